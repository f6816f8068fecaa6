"""A Celery app whose policy dies like a process out of memory when an instruction says POISON."""

import os

import django

django.setup()

from agents.encoders.embedding import CachedEncoder, HashEncoder  # noqa: E402
from agents.memory import encoding  # noqa: E402  after the set-up
from agents.pipeline import Pipeline  # noqa: E402
from webnav_site.celery import app  # noqa: E402, F401  what the worker runs

decide = Pipeline.decide


def deadly(self, observations):
    """Takes its whole process down."""
    if any(observation.instruction == "POISON" for observation in observations):
        os._exit(137)
    return decide(self, observations)


Pipeline.decide = deadly
encoding.encoder_named = lambda name: CachedEncoder(HashEncoder())
