"""Counts of tries that every process shares: in Redis, and in the database while Redis does not answer."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import redis
from django.conf import settings
from django.db import transaction

from annotations.models import TryCount

logger = logging.getLogger(__name__)
ANSWER_SECONDS = 0.5  # how long Redis may take before the database counts instead
LONGEST_KEPT = 7 * 24 * 3600


@dataclass(frozen=True)
class TryLimits:
    """`free` tries cost no waiting; each one more doubles the wait, up to `longest`.

    One is forgotten every `forget` seconds.
    """

    free: int
    longest: int
    forget: int


@dataclass(frozen=True)
class Counted:
    """The wrong tries of one key; all zeros for a key without any."""

    tries: int = 0
    since: float = 0.0  # the moment from which tries are forgotten, one every `forget` seconds
    opens_at: float = 0.0

    def tried(self, limits: TryLimits, now: float) -> "Counted":
        """These tries and one more at `now`, once those that are long ago are forgotten."""
        forgotten = int(max(0.0, now - self.since) // limits.forget)
        tries = max(0, self.tries - forgotten)
        since = self.since + forgotten * limits.forget if tries else now
        over = tries + 2 - limits.free
        wait = min(limits.longest, 2 ** min(over, 20)) if over > 0 else 0
        return Counted(tries + 1, since, now + wait)

    def passed(self) -> "Counted":
        """These tries without the last one, which was right: it neither counts nor makes anybody wait."""
        return Counted(max(0, self.tries - 1), self.since, 0.0)


Known = dict[str, Counted]


def take(keys: dict[str, TryLimits]) -> float:
    """Count a try under every key and give 0.0; or count nothing and give the seconds until all of them are open."""
    wait = 0.0

    def judge(known: Known, now: float) -> Known:
        nonlocal wait
        wait = max(0.0, *(counted.opens_at - now for counted in known.values()))
        return {} if wait else {key: known[key].tried(limits, now) for key, limits in keys.items()}

    _change(list(keys), judge)
    return wait


def give_back(keys: dict[str, TryLimits]) -> None:
    """Take back what `take` counted, as the secret was right."""
    _change(list(keys), lambda known, now: {key: counted.passed() for key, counted in known.items()})


def _change(keys: list[str], judge: Callable[[Known, float], Known]) -> None:
    """Read the keys' tries, let `judge` change them and write them back, as one step. Raises DatabaseError where
    neither Redis nor the database can count: then nobody gets in."""
    try:
        _change_in_redis(keys, judge)
    except redis.RedisError as error:
        logger.warning("Redis does not answer (%s): the database counts the tries at secrets.", error)
        _change_in_database(keys, judge)


def _prefix() -> str:
    layers: dict[str, dict[str, Any]] = settings.CHANNEL_LAYERS
    prefix: str = layers["default"]["CONFIG"]["prefix"]
    return prefix


def name_in_redis(key: str) -> str:
    return f"{_prefix()}:tries:{key}"


def _change_in_redis(keys: list[str], judge: Callable[[Known, float], Known]) -> None:
    """`_change` in Redis, started again when another process has changed one of the keys meanwhile."""
    names = {key: name_in_redis(key) for key in keys}

    def change(pipe: redis.client.Pipeline) -> None:
        stored = {key: pipe.get(name) for key, name in names.items()}
        known = {key: Counted(**json.loads(text)) if text else Counted() for key, text in stored.items()}
        pipe.multi()
        for key, counted in judge(known, time.time()).items():
            pipe.set(names[key], json.dumps(asdict(counted)), ex=LONGEST_KEPT)

    wait = ANSWER_SECONDS
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=wait, socket_connect_timeout=wait) as server:
        server.transaction(change, *names.values())


@transaction.atomic
def _change_in_database(keys: list[str], judge: Callable[[Known, float], Known]) -> None:
    TryCount.objects.bulk_create([TryCount(key=key) for key in keys], ignore_conflicts=True)
    rows = {row.key: row for row in TryCount.objects.select_for_update().filter(key__in=keys).order_by("key")}
    known = {key: Counted(row.tries, row.since, row.opens_at) for key, row in rows.items()}
    for key, counted in judge(known, time.time()).items():
        TryCount.objects.filter(key=key).update(**asdict(counted))


def first_use(key: str, seconds: int) -> bool:
    """Whether `key` is used for the first time in `seconds`, over all processes: a one-time code works once."""
    is_first = False

    def judge(known: Known, now: float) -> Known:
        nonlocal is_first
        is_first = known[key].opens_at <= now
        return {key: Counted(1, now, now + seconds)} if is_first else {}

    _change([key], judge)
    return is_first
