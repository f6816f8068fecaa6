"""A Celery app whose worker meets an error that it cannot go on after, while its process does what does not end."""

import time

import django

django.setup()

from celery.signals import worker_ready  # noqa: E402  after the set-up
from kombu.asynchronous import get_event_loop  # noqa: E402

from webnav_site.celery import app  # noqa: E402


@app.task(name="tests.endless", ignore_result=True)
def endless() -> None:
    time.sleep(600)


@worker_ready.connect
def fail_soon(**kwargs: object) -> None:
    get_event_loop().call_later(1.5, fail)


def fail() -> None:
    raise AssertionError("the broker refuses what cannot be asked otherwise")
