"""Wiring: settings, URLs, ASGI, Celery and the embedded services; no models, no logic."""

from annotations.environment import told_in_a_line

with told_in_a_line(exit_code=3):  # limits of pages are read when what keeps them is loaded
    from webnav_site.celery import app as celery_app

__all__ = ["celery_app"]
