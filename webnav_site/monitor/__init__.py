"""What operators see: logs, metrics, traces, the operator's page."""
