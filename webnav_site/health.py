"""Whether everything works: `/healthz`, and the line that pages show when work waits and no worker takes it."""

import os
import shutil
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.db.models import Min, QuerySet
from django.db.models.functions import Greatest
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotations.access import host_secret
from annotations.models import Job, Leased
from annotations.monitor import starting
from annotations.shown_progress import span_text
from annotations.storage import FREE_BYTES, store
from evaluation.models import Shard
from webnav_site.workers import heartbeats

# Queue -> what waits in it. Beat puts tidying into "default", which nobody waits for.
QUEUES: dict[str, Callable[[], list[QuerySet]]] = {
    "default": list,
    "io": lambda: [Job.objects.waiting_in("io")],
    "gpu": lambda: [Job.objects.waiting_in("gpu"), Shard.objects.filter(state=Leased.State.QUEUED)],
}
PATIENCE_SECONDS = 60  # nothing waits silently for longer


@require_safe
@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 while all work can go on, else 503. Only people with an account are told the parts."""
    components = check()
    status = "ok" if all(_is_ok(components)) else "failing"
    body: dict[str, Any] = {"status": status}
    if components["database"]["ok"] and request.user.is_authenticated:
        body["components"] = components
    response = JsonResponse(body, status=200 if status == "ok" else 503)
    response["Cache-Control"] = "no-store"
    return response


def check() -> dict[str, Any]:
    """The parts: database, redis, secret (the same on all hosts), storage, workers (per queue), beat; each with `ok`
    and details."""
    database = _database()
    heard = _heard()
    return {
        "database": database,
        "redis": {"ok": heard is not None},
        "secret": {"ok": not database["ok"] or host_secret.is_shared()},
        "storage": _storage(),
        "workers": {
            queue: _queue(queue, heard or {}, oldest_queued_seconds(queue) if database["ok"] else None)
            for queue in QUEUES
        },
        "beat": _beat(heard or {}),
    }


def _is_ok(components: dict[str, Any]) -> Iterable[bool]:
    """Whether each part that decides between 200 and 503 is well. Beat is none of these, as it only speeds recovery
    up."""
    parts = [components[name] for name in ("database", "redis", "secret", "storage")]
    return (part["ok"] for part in (*parts, *components["workers"].values()))


def _database() -> dict[str, Any]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return {"ok": False}
    return {"ok": True}


def _heard() -> dict[str, float | None] | None:
    """Queue -> when a worker of it was last heard of; None when Redis does not answer."""
    try:
        with heartbeats.client() as server:
            return {queue: heartbeats.last_heard(server, queue) for queue in (*QUEUES, heartbeats.BEAT)}
    except redis.RedisError:
        return None


def _storage() -> dict[str, Any]:
    """Whether files can be kept: the storage answers, and this machine has room for what it makes of them."""
    root, free = settings.VAR_DIR, _free_bytes()
    try:
        answers = store.answers()
    except OSError:
        answers = False
    return {"ok": answers and os.access(root, os.W_OK) and (free or 0) >= FREE_BYTES, "free_bytes": free}


def _free_bytes() -> int | None:
    """Free bytes of the data folder's disk; None where the folder is not there, for example because a disk was not
    mounted."""
    try:
        return shutil.disk_usage(settings.VAR_DIR).free
    except OSError:
        return None


def oldest_queued_seconds(queue: str) -> float | None:
    """How long a piece of work has been waiting in a queue at most; None when nothing waits."""
    # Work that goes on in slices waits since its last heartbeat; GREATEST leaves out the missing one.
    oldest = [rows.aggregate(since=Min(Greatest("created_at", "heartbeat_at")))["since"] for rows in QUEUES[queue]()]
    since = min((moment for moment in oldest if moment), default=None)
    return round((timezone.now() - since).total_seconds(), 1) if since else None


def _queue(queue: str, heard: dict[str, float | None], waiting: float | None) -> dict[str, Any]:
    last = heard.get(queue)
    alive = last is not None and time.time() - last < heartbeats.ALIVE_SECONDS
    return {
        "ok": alive or waiting is None or waiting <= PATIENCE_SECONDS,
        "alive": alive,
        "last_heartbeat": _moment(last),
        "oldest_queued_seconds": waiting,
    }


def _beat(heard: dict[str, float | None]) -> dict[str, Any]:
    last = heard.get(heartbeats.BEAT)
    alive = last is not None and time.time() - last < heartbeats.BEAT_ALIVE_SECONDS
    return {"ok": alive, "last_heartbeat": _moment(last)}


def _moment(seconds: float | None) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None


def disk_banner() -> str:
    """A sentence that the disk is full or the data folder is gone; "" when neither is so."""
    free = _free_bytes()
    if free is None:
        return "The server's data folder is not there: imports, exports and trainings fail until it is back."
    if free < FREE_BYTES:
        left = f"{free / 1024**2:,.0f} MB are left"
        return f"The server's disk is full ({left}): imports, exports and trainings fail until space is freed."
    return ""


def worker_banner() -> str:
    """A sentence for pages when the disk is full, or work waits and no worker takes it; "" when all is well."""
    if full := disk_banner():
        return full
    waiting = {queue: oldest_queued_seconds(queue) for queue in QUEUES}
    late = {queue: seconds for queue, seconds in waiting.items() if seconds and seconds > PATIENCE_SECONDS}
    if not late:
        return ""
    heard = _heard()
    if heard is None:
        return "Redis does not answer, so background work stands still; what is stored is safe."
    dead = [queue for queue, seconds in late.items() if not _queue(queue, heard, seconds)["alive"]]
    if dead and not (dead := [queue for queue in dead if not starting.is_starting(queue)]):
        return "Workers are starting. Work that waits goes on as soon as they have loaded: in a minute or two."
    if not dead:
        return ""
    waited = span_text(max(late[queue] or 0 for queue in dead))
    names = " and ".join(f"“{queue}”" for queue in dead)
    who = "whoever runs the app has to start one for the queue"
    return f"Work has been waiting for {waited} and no worker takes it: {who} {names}."
