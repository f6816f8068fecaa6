"""Connections to the broker that come back soon after it does."""

from typing import Any, Self

from celery.app.amqp import AMQP
from kombu import Connection

LONGEST_WAIT = 4  # seconds between two attempts; kombu's own wait grows to 30, in which a worker seems to be dead


class PromptConnection(Connection):
    """Of workers and beat, which wait for a broker that is away."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Self:
        return super().ensure_connection(*args, **{"interval_max": LONGEST_WAIT} | kwargs)


class PromptAMQP(AMQP):
    """What Celery's app makes its connections with."""

    Connection = PromptConnection
