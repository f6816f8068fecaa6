"""Heartbeats of workers and beat: they write the time into Redis, and everybody else reads it.

A worker's main loop emits Celery's `heartbeat_sent` every two seconds, whatever its pool is doing, so a worker that is
busy is alive and one that was killed falls silent. One sorted set per queue: worker name -> time of its last beat.
"""

import logging
import time
from typing import cast

import redis
from celery.signals import after_task_publish, beat_init, celeryd_after_setup, heartbeat_sent, worker_shutdown

from annotations.monitor.shared import client

logger = logging.getLogger(__name__)

ALIVE_SECONDS = 45  # of silence until a worker counts as dead
EVERY_SECONDS = 5
BEAT = "beat"  # counted like a queue; it publishes the reaper's tasks every 30 s
BEAT_ALIVE_SECONDS = 90
REMEMBERED_SECONDS = 7 * 24 * 3600


def tell(queue: str, name: str) -> None:
    """Say that `name` is alive and takes work from `queue`; never raises on a broken Redis."""
    key, now = f"webnav:alive:{queue}", time.time()
    try:
        with client() as server, server.pipeline() as pipe:
            pipe.zadd(key, {name: now}).zremrangebyscore(key, 0, now - REMEMBERED_SECONDS)
            pipe.expire(key, REMEMBERED_SECONDS).execute()
    except redis.RedisError as error:
        logger.warning("could not tell that %s is alive: %s", name, error)


def last_heard(server: redis.Redis, queue: str) -> float | None:
    """When a worker of the queue was last heard of, in seconds since 1970; None if not within a week."""
    newest = cast("list[tuple[bytes, float]]", server.zrevrange(f"webnav:alive:{queue}", 0, 0, withscores=True))
    return newest[0][1] if newest else None


class _OwnWorker:
    """Name, queues and last heartbeat of this process, if it is a worker."""

    name = ""
    queues: tuple[str, ...] = ()
    told = 0.0


@celeryd_after_setup.connect
def _remember(sender: str, instance, **kwargs) -> None:
    _OwnWorker.name = sender
    _OwnWorker.queues = tuple(instance.app.amqp.queues.consume_from)


@heartbeat_sent.connect
def _beat(**kwargs) -> None:
    if time.monotonic() - _OwnWorker.told >= EVERY_SECONDS:
        _OwnWorker.told = time.monotonic()
        for queue in _OwnWorker.queues:
            tell(queue, _OwnWorker.name)


@worker_shutdown.connect
def _leave(**kwargs) -> None:
    """Remove a worker that stops on purpose, so that nobody waits for its heartbeats to grow old."""
    try:
        with client() as server:
            for queue in _OwnWorker.queues:
                server.zrem(f"webnav:alive:{queue}", _OwnWorker.name)
    except redis.RedisError as error:
        logger.warning("could not tell that %s has stopped: %s", _OwnWorker.name, error)


@beat_init.connect
def _beat_started(sender, **kwargs) -> None:
    tell(BEAT, "beat")
    after_task_publish.connect(_beat_published, weak=False)


def _beat_published(**kwargs) -> None:
    tell(BEAT, "beat")
