"""Wiring: settings, URLs, ASGI, Celery and the embedded services; no models, no logic."""

from webnav_site.celery import app as celery_app

__all__ = ["celery_app"]
