"""What operators see: logs, metrics, traces, the operator's page. May import `workers` and all of `annotations` and
`evaluation`.
"""
