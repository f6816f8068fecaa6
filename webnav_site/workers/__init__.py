"""What workers of Celery do beside tasks: heartbeats, what each reports, its row in the registry, its device.

May import all of `agents` and `annotations`.
"""
