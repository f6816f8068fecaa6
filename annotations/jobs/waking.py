"""Whether messages can be sent to workers now. Where not, the request is answered at once, and the reaper sends the
message later."""

import logging
from typing import cast

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from annotations.models import Worker
from annotations.monitor.starting import is_starting

logger = logging.getLogger(__name__)
PATIENCE_SECONDS = 1.0


def broker_answers() -> bool:
    """Whether the broker answers, within a short time limit: its own client would try for six seconds and more."""
    if not _is_redis():
        return True
    try:
        with _server() as server:
            return bool(server.ping())
    except (redis.RedisError, OSError) as error:
        logger.warning("Redis does not answer (%s): workers are told of new work when it is back", error)
        return False


def left_in(queue: str) -> int:
    """How many messages lie in a queue that no worker has taken yet; 0 where that cannot be known."""
    if not _is_redis():
        return 0
    try:
        with _server() as server:
            return int(cast("int", server.llen(queue)))
    except (redis.RedisError, OSError):
        return 0


def _is_redis() -> bool:
    return str(settings.CELERY_BROKER_URL).startswith(("redis://", "rediss://"))


def _server() -> redis.Redis:
    return redis.Redis.from_url(
        settings.CELERY_BROKER_URL,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )


def nobody_takes(queue: str) -> bool:
    """Whether no worker takes work from a queue, and none is starting."""
    return not Worker.objects.takes(queue) and not is_starting(queue)
