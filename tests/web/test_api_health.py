"""Who is alive, and what is said when work waits for nobody."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from annotations.models import Job
from annotations.monitor import starting
from evaluation.models import Shard
from tests import factories
from tests.signed_in import client_of
from webnav_site import health
from webnav_site.edge.bodies import has_room
from webnav_site.management.commands import up
from webnav_site.supervision import launch
from webnav_site.supervision.programs import procfile
from webnav_site.workers import heartbeats

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _own_redis_database(settings, tmp_path: Path) -> Iterator[None]:
    """A database of the same Redis in which nobody is alive yet."""
    address, _, number = settings.REDIS_URL.rpartition("/")
    settings.REDIS_URL = f"{address}/{int(number) + 1}"
    settings.MEDIA_ROOT = tmp_path
    with heartbeats.client() as server:
        server.flushdb()
        yield
        server.flushdb()


def wait_since(row, seconds: int) -> None:
    type(row).objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(seconds=seconds))


@pytest.mark.django_db
def test_all_is_well_while_nothing_waits() -> None:
    response = Client().get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}  # strangers learn nothing else


@pytest.mark.django_db
def test_people_with_an_account_see_the_parts() -> None:
    heartbeats.tell("io", "worker@one")
    parts = client_of(factories.make_user()).get("/healthz").json()["components"]
    assert parts["database"] == parts["redis"] == {"ok": True}
    assert parts["storage"]["ok"] is True
    assert parts["workers"]["io"]["alive"] is True
    assert parts["workers"]["io"]["last_heartbeat"].startswith(str(timezone.now().year))
    assert parts["workers"]["gpu"] == {
        "ok": True,
        "alive": False,
        "last_heartbeat": None,
        "oldest_queued_seconds": None,
    }
    assert parts["beat"]["ok"] is False


@pytest.mark.django_db
@pytest.mark.parametrize(("queue", "make"), [("io", factories.make_job), ("gpu", factories.make_shard)])
def test_work_that_waits_longer_than_a_minute_for_nobody_is_a_failure(queue: str, make) -> None:
    work = make()
    assert Client().get("/healthz").status_code == 200
    wait_since(work, 61)
    assert Client().get("/healthz").status_code == 503
    assert f"“{queue}”" in health.worker_banner()
    heartbeats.tell(queue, "worker@one")
    assert Client().get("/healthz").status_code == 200
    assert health.worker_banner() == ""


@pytest.mark.django_db
def test_work_that_goes_on_in_slices_waits_since_its_last_heartbeat() -> None:
    wait_since(factories.make_job(heartbeat_at=timezone.now() - timedelta(seconds=10)), 3600)
    assert 9 < health.oldest_queued_seconds("io") < 15
    assert not Shard.objects.exists()
    assert health.oldest_queued_seconds("gpu") is None


@pytest.mark.django_db
def test_work_that_is_over_waits_for_nobody() -> None:
    wait_since(factories.make_job(state=Job.State.FAILED), 3600)
    assert health.worker_banner() == ""


@pytest.mark.django_db
def test_a_worker_that_falls_silent_counts_as_dead() -> None:
    with heartbeats.client() as server:
        server.zadd("webnav:alive:io", {"worker@one": time.time() - heartbeats.ALIVE_SECONDS - 1})
    wait_since(factories.make_job(), 61)
    assert "“io”" in health.worker_banner()


@pytest.mark.django_db
def test_while_workers_start_nobody_is_told_to_start_one(settings, monkeypatch) -> None:
    """As `launch` says it before it becomes the worker, whose queues stand in the Procfile."""
    monkeypatch.setenv("REDIS_URL", settings.REDIS_URL)
    job, shard = factories.make_job(), factories.make_shard()
    wait_since(job, 61)
    wait_since(shard, 61)
    launch.tell_of_worker(procfile()["web"])
    assert "no worker takes it" in health.worker_banner()
    launch.tell_of_worker(procfile()["worker"])
    assert "“gpu”" in health.worker_banner()
    assert "“io”" not in health.worker_banner()
    launch.tell_of_worker(procfile()["gpu"])
    assert health.worker_banner().startswith("Workers are starting.")
    for row in (job, shard):
        row.refresh_from_db()
        assert row.worker_text().endswith(": workers are starting")
    with heartbeats.client() as server:
        assert 0 < server.ttl("webnav:starting:gpu") <= starting.SECONDS
        server.delete("webnav:starting:gpu")
    assert "“gpu”" in health.worker_banner(), "one that is not heard of in time is missing"
    heartbeats.tell("gpu", "worker@one")
    heartbeats.tell("io", "worker@two")
    assert health.worker_banner() == ""


@pytest.mark.django_db
def test_a_broken_redis_is_a_failure_that_is_told(settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client_of(factories.make_user()).get("/healthz")
    assert response.status_code == 503
    assert response.json()["components"]["redis"] == {"ok": False}
    wait_since(factories.make_job(), 61)
    assert "Redis does not answer" in health.worker_banner()


def test_a_data_folder_that_is_not_there_is_told_and_is_no_failure_of_ours(db, settings, tmp_path) -> None:
    """A disk that was not mounted, say."""
    settings.VAR_DIR = tmp_path / "gone"
    response = client_of(factories.make_user(is_superuser=True)).get("/healthz")
    assert response.status_code == 503
    assert response.json()["components"]["storage"] == {"ok": False, "free_bytes": None}
    assert "data folder is not there" in health.worker_banner()
    client = client_of(factories.make_user(is_superuser=True, is_staff=True))
    assert "data folder is not there" in client.get("/jobs/").text
    assert client.get("/operations/").status_code == 200
    assert not has_room(settings.VAR_DIR, 1, 1)


@pytest.mark.django_db
def test_a_full_disk_is_a_failure_that_is_told(monkeypatch) -> None:
    monkeypatch.setattr(health, "FREE_BYTES", 2**60)
    assert Client().get("/healthz").status_code == 503


@pytest.mark.slow
def test_a_real_worker_tells_its_queues_until_it_stops(settings, tmp_path: Path) -> None:
    queue = f"test-{uuid.uuid4().hex}"
    command = [sys.executable, "-m", "celery", "-A", "webnav_site", "worker", "-Q", queue, "-P", "solo", "-n", "t@h"]
    environment = os.environ | {"REDIS_URL": settings.REDIS_URL}
    with (tmp_path / "log").open("w") as log:
        worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        with heartbeats.client() as server:
            assert wait_for(lambda: heartbeats.last_heard(server, queue)), (tmp_path / "log").read_text()
            worker.send_signal(signal.SIGTERM)
            assert wait_for(lambda: heartbeats.last_heard(server, queue) is None), (tmp_path / "log").read_text()
    finally:
        worker.kill()
        worker.wait()


def wait_for(condition, seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["train", "embed", "induce", "refine", "propose"])
def test_jobs_that_need_models_wait_for_the_gpu_worker(kind: str) -> None:
    wait_since(factories.make_job(kind=kind), 61)
    heartbeats.tell("io", "worker@one")
    assert "“gpu”" in health.worker_banner()
    assert "“io”" not in health.worker_banner()
    heartbeats.tell("gpu", "worker@two")
    assert health.worker_banner() == ""


@pytest.mark.django_db
@pytest.mark.parametrize(("room", "told"), [(2**60, True), (0, False)])
def test_a_full_disk_is_told_in_the_terminal_that_starts_the_app(monkeypatch, room: int, told: bool) -> None:
    monkeypatch.setattr(health, "FREE_BYTES", room)
    terminal = StringIO()
    up.Command(stdout=terminal)._announce()
    assert ("The server's disk is full" in terminal.getvalue()) is told
