"""A Celery app that dies like a process out of memory while it loads models, as often as DEATHS says."""

import os
from pathlib import Path

import django

django.setup()

from agents.encoders.embedding import CachedEncoder, HashEncoder  # noqa: E402  after the set-up
from agents.memory import encoding  # noqa: E402
from agents.runs import runner  # noqa: E402
from webnav_site.celery import app  # noqa: E402, F401  what the worker runs

died = Path(os.environ["DEATHS"])
build_pipeline = runner.build_pipeline


def die_or(load):
    """`load`, before which its whole process goes down until there are no deaths left."""

    def deadly(*args):
        if left := int(died.read_text()):
            died.write_text(str(left - 1))
            os._exit(137)
        return load(*args)

    return deadly


runner.build_pipeline = die_or(build_pipeline)
encoding.encoder_named = die_or(lambda name: CachedEncoder(HashEncoder()))
