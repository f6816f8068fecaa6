"""Workers that are starting: they load their libraries before they are heard of, which takes a minute on a busy
machine, and until then nobody has to start any."""

from collections.abc import Iterable

import redis

from annotations.monitor.shared import client

SECONDS = 300  # in which a worker is heard of, or something is wrong with it


def tell(server: redis.Redis, queues: Iterable[str]) -> None:
    """Say that a worker of these queues begins to start."""
    for queue in queues:
        server.set(_key(queue), 1, ex=SECONDS)


def is_starting(queue: str) -> bool:
    """Whether a worker of the queue began to start a short while ago."""
    try:
        with client() as server:
            return bool(server.exists(_key(queue)))
    except redis.RedisError:
        return False


def _key(queue: str) -> str:
    return f"webnav:starting:{queue}"
