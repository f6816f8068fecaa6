"""What operators see: logs, metrics, traces, the operator's page. May import all of `annotations` and `evaluation`."""
