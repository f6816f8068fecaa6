"""`/metrics`: who may read it, that Prometheus' own parser takes it, and that numbers survive kill -9."""

import re
import subprocess
import sys
from datetime import timedelta

import pytest
import redis
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotations.jobs import running
from annotations.models import Job
from annotations.models.jobs.jobs import IO_KINDS
from annotations.monitor import counters
from annotations.monitor.shared import client as shared_client
from tests import factories
from tests.evaluation.workers import ROOT, environment
from tests.signed_in import client_of
from webnav_site.workers import reporting

pytestmark = pytest.mark.django_db
TOKEN = "a-token-for-prometheus"


@pytest.fixture(autouse=True)
def _nothing_counted(settings) -> None:
    settings.METRICS_TOKEN, settings.METRICS_ADDRESSES = TOKEN, []
    counters.flush()
    with shared_client() as server:
        server.delete(counters.KEY)


def read() -> dict[str, dict[frozenset, float]]:
    """sample name -> labels -> value, as Prometheus reads it."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    found: dict[str, dict[frozenset, float]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def labels(**values: str) -> frozenset:
    return frozenset(values.items())


def test_the_public_and_members_may_not_read_it() -> None:
    client = Client()
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 404
    client.force_login(factories.make_user("admin"))
    assert client.get("/metrics").status_code == 404


def test_without_a_token_nobody_holds_it(settings) -> None:
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize(("network", "status"), [("127.0.0.0/8", 200), ("127.0.0.1/8", 200), ("10.1.0.0/16", 404)])
def test_named_addresses_may_read_it_and_cannot_be_claimed(settings, network: str, status: int) -> None:
    settings.METRICS_ADDRESSES = [network]
    answer = Client().get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"})
    assert answer.status_code == status


def test_prometheus_parser_takes_it_and_names_follow_its_rules() -> None:
    counters.REQUESTS.observe('a"b\\c\nd', "GET", "200", amount=0.02)
    counters.STEPS.add("grounded", amount=40)
    counters.flush()
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    families = list(text_string_to_metric_families(answer.content.decode()))
    for family in families:
        assert re.fullmatch(r"webnav_[a-z_]+", family.name)
        assert family.documentation.endswith(".")
        assert not family.name.endswith(("_ms", "_milliseconds", "_mb"))
        for sample in family.samples:
            assert family.type != "counter" or sample.name.endswith("_total")
    assert len({family.name for family in families}) == len(families)
    routes = {sample.labels.get("route") for family in families for sample in family.samples}
    assert 'a"b\\c\nd' in routes


def test_a_histogram_counts_upwards() -> None:
    for seconds in (0.001, 0.02, 0.02, 7.0, 60.0):
        counters.REQUESTS.observe("home", "GET", "200", amount=seconds)
    counters.flush()
    found, name = read(), counters.REQUESTS.name
    at = {"route": "home", "method": "GET", "status": "200"}
    buckets = [found[f"{name}_bucket"][labels(**at, le=le)] for le in ("0.005", "0.025", "5.0", "10.0", "+Inf")]
    assert buckets == [1, 3, 3, 4, 5]
    assert found[f"{name}_count"][labels(**at)] == 5
    assert found[f"{name}_sum"][labels(**at)] == pytest.approx(67.041)


def test_queues_jobs_shards_database_and_disk_are_told() -> None:
    waits = factories.make_job(kind=Job.Kind.TRAIN)
    Job.objects.filter(pk=waits.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    factories.make_job(kind=Job.Kind.EXPORT, state=Job.State.FAILED)
    factories.make_shard()
    found = read()
    assert found["webnav_queue_depth"][labels(queue="gpu")] == 2
    assert 299 < found["webnav_queue_oldest_seconds"][labels(queue="gpu")] < 330
    assert found["webnav_queue_depth"][labels(queue="io")] == 0
    assert found["webnav_jobs"][labels(kind="export", state="failed")] == 1
    assert found["webnav_shards"][labels(state="queued")] == 1
    assert sum(found["webnav_database_connections"].values()) >= 1
    assert found["webnav_database_size_bytes"][labels()] > 1_000_000
    assert found["webnav_disk_free_bytes"][labels(folder="var")] > 0
    assert set(found["webnav_source_up"].values()) == {1.0}


def test_every_kind_of_job_waits_in_a_queue_that_is_told_and_has_who_does_it() -> None:
    """Also of kinds that nobody has thought of yet."""
    for kind in Job.Kind.values:
        factories.make_job(kind=kind)
    found = read()
    assert {dict(one)["kind"] for one in found["webnav_jobs"]} == set(Job.Kind.values)
    depth = {dict(one)["queue"]: number for one, number in found["webnav_queue_depth"].items()}
    assert sum(depth.values()) == len(Job.Kind.values)
    assert depth == {"io": len(IO_KINDS), "gpu": len(Job.Kind.values) - len(IO_KINDS)}
    assert set(running.RUNNERS) == set(Job.Kind.values)
    page = client_of(factories.make_superuser()).get("/operations/").context["queues"]
    assert {queue["name"]: queue["depth"] for queue in page} == depth


def test_messages_in_the_broker_are_told(settings) -> None:
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as broker:
        broker.delete("default")
        broker.lpush("default", "one", "two")
        try:
            assert read()["webnav_broker_messages"][labels(queue="default")] == 2
        finally:
            broker.delete("default")


def test_without_redis_the_rest_is_told(settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    found = read()
    assert found["webnav_source_up"] == {
        labels(source="redis"): 0,
        labels(source="database"): 1,
        labels(source="disk"): 1,
    }
    assert "webnav_database_size_bytes" in found


def test_a_workers_devices_and_work_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = {"index": 0, "name": "H100", "used_bytes": 5, "total_bytes": 80}
    monkeypatch.setattr(reporting, "devices", lambda: [gpu])
    monkeypatch.setattr(reporting._ObservedWorker, "name", "gpu@here")
    monkeypatch.setattr(reporting._ObservedWorker, "queues", ("gpu",))
    monkeypatch.setattr(reporting._ObservedWorker, "told", -1000.0)
    reporting._tell()
    found = read()
    (used,) = found["webnav_gpu_memory_used_bytes"].items()
    assert (dict(used[0])["name"], used[1]) == ("H100", 5)
    assert any(dict(at)["worker"] == "gpu@here" for at in found["webnav_worker_up"])


DIES = """
import django, os, signal, time
django.setup()
from annotations.monitor import counters
for _ in range(7):
    counters.REQUESTS.observe("home", "GET", "200", amount=0.01)
time.sleep(counters.FLUSH_SECONDS + 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_a_killed_process_counted_is_still_told() -> None:
    """And by every other process: nothing is kept where it was counted."""
    killed = [subprocess.Popen([sys.executable, "-c", DIES], cwd=ROOT, env=environment()) for _ in range(2)]
    for process in killed:
        process.wait(60)
    at = labels(route="home", method="GET", status="200")
    assert read()[f"{counters.REQUESTS.name}_count"][at] == 14
