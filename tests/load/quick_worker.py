"""A Celery app in which `grounded` ranks by hashed words: a soak is one of browsers and workers, not of a model."""

import django

django.setup()

from agents.encoders.embedding import CachedEncoder, HashEncoder  # noqa: E402  after the set-up
from agents.memory import encoding  # noqa: E402
from webnav_site.celery import app  # noqa: E402, F401  what the worker runs

encoder = CachedEncoder(HashEncoder())
encoding.encoder_named = lambda name: encoder
