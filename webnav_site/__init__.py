"""Wiring: settings, URLs, ASGI, Celery and the embedded services; no models, no logic.

May import `edge`, `monitor` and all of `annotations` and `agents` and `evaluation`.
"""

import gc

from annotations.environment import told_in_a_line

# What is loaded stays: looking through it again after every 700 new objects took a sixth of a start's time.
gc.set_threshold(50_000, 10, 10)
with told_in_a_line(exit_code=3):  # limits of pages are read when what keeps them is loaded
    from webnav_site.celery import app as celery_app

__all__ = ["celery_app"]
