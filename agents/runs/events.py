"""Events for live pages. An event says that something new is stored, never what: a lost one only delays the page."""

import logging
from typing import TypedDict

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)


class Nudge(TypedDict):
    """`seq`: the number of stored steps of the trajectory, or of the run."""

    type: str
    seq: int
    state: str


def trajectory_group(pk: int) -> str:
    return f"trajectory.{pk}"


def run_group(pk: int) -> str:
    return f"run.{pk}"


def publish(group: str, seq: int, state: str) -> None:
    """Tell viewers; a broken Redis must not stop an evaluation, so the failure is only logged."""
    layer = get_channel_layer()
    assert layer is not None  # the settings name one
    try:
        async_to_sync(layer.group_send)(group, {**Nudge(type="nudge", seq=seq, state=state)})
    except (redis.RedisError, OSError) as error:
        logger.warning("could not tell %s about step %d: %s", group, seq, error)
