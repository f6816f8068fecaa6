"""The operator's page: who works, what waits, how large everything is, what went wrong; for superusers."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import redis
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.monitor import errors
from annotations.retention.forgetting import estimates
from annotations.text.amounts import whole
from webnav_site.monitor import metrics, samples, sizes, slow_queries
from webnav_site.workers import reporting

RATES = (("requests", "Requests a minute"), ("steps", "Steps a minute"), ("errors", "Errors a minute"))
LONGEST_DAYS = 36500


@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    _require_superuser(request)
    taken = _asked(samples.read, [])
    waiting = metrics.queues()
    alive = _asked(reporting.alive, [])
    context = {
        "workers": [_worker(worker) for worker in alive],
        "queues": [
            {
                "name": queue,
                "depth": depth,
                "oldest": oldest if depth else None,
                "workers": sum(queue in worker["queues"] for worker in alive),
                "spark": samples.spark(samples.series(taken, f"{queue} depth")),
            }
            for queue, (depth, oldest) in waiting.items()
        ],
        "points": _points(taken, waiting),
        "rates": [(label, samples.spark(samples.series(taken, name))) for name, label in RATES],
        "gpus": {(worker["host"], gpu["index"]): gpu for worker in alive for gpu in worker["gpus"]},
        "errors": [entry | {"when": _moment(entry["at"])} for entry in _asked(errors.recent, [])],
        "slow": [entry | {"when": _moment(entry["at"])} for entry in _asked(slow_queries.recent, [])],
        "slow_ms": settings.SLOW_QUERY_MS,
        "beat": [(task, _moment(at)) for task, at in sorted(_asked(reporting.beat_sent, {}).items())],
        "redis_answers": _asked(lambda: bool(reporting.beat_sent()) or True, False),
        "width": samples.WIDTH,
        "height": samples.HEIGHT,
    }
    return render(request, "operations.html", context | _sizes(request))


def _points(taken: list[dict[str, float]], queues: Iterable[str]) -> dict[str, Any] | None:
    """The points of all lines of the page as a table, the newest first; None where nothing is drawn."""
    if len(taken) < 2:
        return None
    drawn = [*((f"{queue} depth", f"Waiting in {queue}") for queue in queues), *RATES]
    columns = [dict(samples.series(taken, name)) for name, _ in drawn]
    times = [sample["at"] for sample in reversed(taken[1:])]  # of what grows the first point has no pace
    rows = [(_moment(at), [column.get(at, 0.0) for column in columns]) for at in times]
    return {"names": [label for _, label in drawn], "rows": rows}


@require_safe
def retention(request: HttpRequest) -> HttpResponse:
    """The page of retention: how much forgetting would free now, and with another number of days, before anything is
    done."""
    _require_superuser(request)
    given = whole(request.GET.get("days", ""))
    days = None if given is None else min(given, LONGEST_DAYS)
    found = estimates()
    others = [None] * len(found) if days is None else [other for _, other in estimates(days)]
    rows = [(kind, would, other) for (kind, would), other in zip(found, others, strict=True)]
    return render(request, "retention.html", {"rows": rows, "days": days})


def _require_superuser(request: HttpRequest) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied("This page is for the people who run this server.")


def _asked(ask: Callable[[], Any], otherwise: Any) -> Any:
    """What `ask` reads from Redis, or `otherwise` while Redis is down, when the rest of the page is needed most."""
    try:
        return ask()
    except redis.RedisError:
        return otherwise


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _worker(worker: dict[str, Any]) -> dict[str, Any]:
    doing = [f"{task['task'].rpartition('.')[2]} {' '.join(task['args'])}".strip() for task in worker["doing"]]
    since = [_moment(task["since"]) for task in worker["doing"]]
    return worker | {"since": _moment(worker["since"]), "doing": list(zip(doing, since, strict=True))}


def _sizes(request: HttpRequest) -> dict[str, Any]:
    free, total = sizes.disk()
    return {
        "tables": sizes.tables(),
        "datasets": sizes.datasets() if "datasets" in request.GET else None,
        "database_bytes": sizes.database_bytes(),
        "connections": sum(sizes.connections().values()),
        "folders": sizes.folders(),
        "free": free,
        "total": total,
        "versions": sizes.versions(),
    }
