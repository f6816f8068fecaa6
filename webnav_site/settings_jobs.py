"""Settings of Celery: how messages are taken, and which tasks run regularly."""

CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TRACK_STARTED = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True  # safe only because the database caps attempts
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000  # with a process end the browsers that it keeps for people
CELERY_TASK_TIME_LIMIT = 900
CELERY_TASK_SOFT_TIME_LIMIT = 600
# Who publishes has somebody waiting, and the reaper publishes again what was lost: no long tries.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_connect_timeout": 3, "socket_timeout": 15}
# SIGTERM: work ends its slice at the next batch, then the worker stops. SIGQUIT waits for it no longer than this.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 120
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # however long a broker is away: `workers/broker.py` says how often
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_BEAT_SCHEDULE = {
    "reap-shards": {"task": "evaluation.tasks.reap", "schedule": 30.0},
    "reap-jobs": {"task": "annotations.tasks.reap", "schedule": 30.0},
    "keep-counts": {"task": "annotations.tasks.keep_counts", "schedule": 300.0},
    "deliver-webhooks": {"task": "annotations.tasks.deliver_webhooks", "schedule": 10.0},
    "unmark-steps": {"task": "annotations.tasks.unmark_steps", "schedule": 60.0},
    "take-samples": {"task": "webnav_site.monitor.tasks.take_sample", "schedule": 30.0, "options": {"expires": 60}},
    "forget-old": {"task": "annotations.tasks.forget_old", "schedule": 24 * 3600.0},
    "forget-pages": {"task": "annotations.tasks.forget_unused_pages", "schedule": 24 * 3600.0},
}
