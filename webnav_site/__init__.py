"""The site: settings, URLs, ASGI and Celery, the door before Django, embedded services, supervision, logs and backups;
no models, and nothing of annotation, agents or evaluation.

May import `edge`, `embedded`, `frame`, `monitor`, `workers` and all of `agents` and `annotations` and `evaluation`.
"""

import gc

# Loaded code stays: collecting garbage after every 700 new objects, as is usual, took a sixth of a start's time.
gc.set_threshold(50_000, 10, 10)
