"""Broker connections that are made again soon after the broker is back."""

from typing import Any, Self

from celery.app.amqp import AMQP
from kombu import Connection

LONGEST_WAIT = 4  # seconds between two attempts; kombu's own wait grows to 30, in which a worker seems to be dead


class PromptConnection(Connection):
    """The connections of workers and beat, which wait only briefly between tries while the broker is away."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Self:
        return super().ensure_connection(*args, **{"interval_max": LONGEST_WAIT} | kwargs)


class PromptAMQP(AMQP):
    """Makes Celery's connections of our class."""

    Connection = PromptConnection
