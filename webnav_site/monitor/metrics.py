"""`/metrics` for Prometheus: counters, which lie in Redis, and current values, asked of PostgreSQL, Redis and the disk.

Nothing is kept in the web process, so every web process gives the same answer, and one that was killed takes nothing
along. A source that does not answer is left out, and `webnav_source_up` says so: half an answer is better than none in
a failure.
"""

import hmac
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from annotations.access.clients import client_address, networks
from annotations.models import Job, Leased
from annotations.monitor import counters
from evaluation.models import Shard
from webnav_site.monitor import sizes
from webnav_site.workers import reporting

QUEUES = ("default", "io", "gpu")


@require_safe
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics, for those who hold the token or ask from a named address; for others the page does not exist."""
    if not may_read(request):
        raise Http404
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Everything())
    answer = HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
    answer["Cache-Control"] = "no-store"
    return answer


def may_read(request: HttpRequest) -> bool:
    """Whether the request may read metrics: by `Authorization: Bearer METRICS_TOKEN`, or from an address of
    METRICS_ADDRESSES."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    token = settings.METRICS_TOKEN
    if token and hmac.compare_digest(given.encode(), token.encode()):
        return True
    try:
        address = ip_address(client_address(request))
    except ValueError:
        return False
    return any(address in network for network in networks(tuple(settings.METRICS_ADDRESSES)))


class Everything:
    """The collector of all our metrics, for the Prometheus client library."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("webnav_source_up", "1 where the source of metrics answered.", labels=["source"])
        sources: tuple[tuple[str, Callable[[], Iterable[Metric]], type[Exception]], ...] = (
            ("redis", _from_redis, redis.RedisError),
            ("database", _from_database, DatabaseError),
            ("disk", _from_disk, OSError),
        )
        for name, ask, failure in sources:
            try:
                found = list(ask())
            except failure:
                found = []
            up.add_metric([name], float(bool(found)))
            yield from found
        yield up


def _from_redis() -> Iterator[Metric]:
    found = counters.read()
    for metric in counters.KEPT:
        rows = {values: parts for (name, values), parts in found.items() if name == metric.name}
        if isinstance(metric, counters.Counter):
            yield _counter(metric, rows)
        else:
            yield _histogram(metric, rows)
    yield from _workers(reporting.alive())
    if settings.CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
        with redis.Redis.from_url(settings.CELERY_BROKER_URL, socket_timeout=2, socket_connect_timeout=2) as broker:
            waiting = [((queue,), float(broker.llen(queue))) for queue in QUEUES]
        yield _gauge("webnav_broker_messages", "Messages in the broker: they only wake workers up.", ["queue"], waiting)


def _counter(metric: counters.Counter, rows: dict[tuple[str, ...], dict[str, float]]) -> Metric:
    family = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
    for values, parts in sorted(rows.items()):
        family.add_metric(values, parts.get("value", 0.0))
    return family


def _histogram(metric: counters.Histogram, rows: dict[tuple[str, ...], dict[str, float]]) -> Metric:
    """A histogram for Prometheus, whose buckets count all values up to their bound; those in Redis count the values of
    one bucket."""
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    for values, parts in sorted(rows.items()):
        buckets, below = [], 0.0
        for bound in [*(str(bound) for bound in metric.bounds), "+Inf"]:
            below += parts.get(bound, 0.0)
            buckets.append((bound, below))
        family.add_metric(values, buckets, parts.get("sum", 0.0))
    return family


def _workers(found: list[dict]) -> Iterator[Metric]:
    up = GaugeMetricFamily("webnav_worker_up", "1 for a worker that told of itself.", labels=["worker", "host"])
    memory = GaugeMetricFamily("webnav_worker_memory_bytes", "Memory of a worker and its pool.", labels=["worker"])
    busy = GaugeMetricFamily("webnav_worker_tasks", "Tasks under way.", labels=["worker"])
    used = GaugeMetricFamily("webnav_gpu_memory_used_bytes", "Memory in use.", labels=["host", "gpu", "name"])
    total = GaugeMetricFamily("webnav_gpu_memory_total_bytes", "Memory there is.", labels=["host", "gpu", "name"])
    gpus: dict[tuple[str, str, str], dict[str, Any]] = {}
    for worker in found:
        up.add_metric([worker["name"], worker["host"]], 1.0)
        memory.add_metric([worker["name"]], worker["memory_bytes"])
        busy.add_metric([worker["name"]], len(worker["doing"]))
        gpus |= {(worker["host"], str(gpu["index"]), gpu["name"]): gpu for gpu in worker["gpus"]}
    for labels, gpu in sorted(gpus.items()):  # two workers of a machine tell of the same devices
        used.add_metric(labels, gpu["used_bytes"])
        total.add_metric(labels, gpu["total_bytes"])
    yield from (up, memory, busy, used, total)


def _from_database() -> Iterator[Metric]:
    jobs = Job.objects.values_list("kind", "state").annotate(n=Count("pk")).order_by("kind", "state")
    shards = Shard.objects.values_list("state").annotate(n=Count("pk")).order_by("state")
    yield _gauge("webnav_jobs", "Jobs by kind and state.", ["kind", "state"], [(row[:2], row[2]) for row in jobs])
    yield _gauge("webnav_shards", "Shards of runs by state.", ["state"], [(row[:1], row[1]) for row in shards])
    waiting = queues()
    depth = [((queue,), count) for queue, (count, _) in waiting.items()]
    age = [((queue,), seconds) for queue, (_, seconds) in waiting.items()]
    yield _gauge("webnav_queue_depth", "Jobs and shards that wait for a worker.", ["queue"], depth)
    yield _gauge("webnav_queue_oldest_seconds", "How long the oldest of them has waited.", ["queue"], age)
    states = [((state,), count) for state, count in sorted(sizes.connections().items())]
    yield _gauge("webnav_database_connections", "Connections of the database by state.", ["state"], states)
    yield _gauge(
        "webnav_database_connections_limit", "Connections the server allows.", [], [((), sizes.most_connections())]
    )
    yield _gauge("webnav_database_size_bytes", "Size of the database.", [], [((), sizes.database_bytes())])


def queues() -> dict[str, tuple[int, float]]:
    """Queue -> (how many wait, seconds that the oldest has waited); 0 when nothing waits."""
    found: dict[str, list[tuple[int, float]]] = {"io": [], "gpu": []}
    now = timezone.now()
    for queue, rows in found.items():
        jobs = Job.objects.waiting_in(queue).aggregate(n=Count("pk"), since=Min("created_at"))
        if jobs["n"]:
            rows.append((jobs["n"], (now - jobs["since"]).total_seconds()))
    shards = Shard.objects.filter(state=Leased.State.QUEUED).aggregate(n=Count("pk"), since=Min("created_at"))
    if shards["n"]:
        found["gpu"].append((shards["n"], (now - shards["since"]).total_seconds()))
    return {
        queue: (sum(count for count, _ in rows), max((seconds for _, seconds in rows), default=0.0))
        for queue, rows in found.items()
    }


def _from_disk() -> Iterator[Metric]:
    free = GaugeMetricFamily("webnav_disk_free_bytes", "Free space.", labels=["folder"])
    total = GaugeMetricFamily("webnav_disk_total_bytes", "All space.", labels=["folder"])
    for name, folder in {"var": settings.VAR_DIR, "models": settings.MODEL_ROOT, "files": settings.MEDIA_ROOT}.items():
        if folder.exists():
            usage = shutil.disk_usage(folder)
            free.add_metric([name], usage.free)
            total.add_metric([name], usage.total)
    yield from (free, total)
    yield _gauge("webnav_time_seconds", "When this was read, by this server's clock.", [], [((), time.time())])


def _gauge(name: str, text: str, labels: list[str], rows: Iterable[tuple[tuple, float]]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for values, number in rows:
        family.add_metric([str(value) for value in values], number)
    return family
