"""The registry of workers."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from agents.encoders import weights
from annotations.hosts.identity import host_id, this_process
from annotations.models import Worker
from annotations.models.jobs.workers import ALIVE, REMEMBERED
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db


def silent_for(name: str, time: timedelta) -> None:
    Worker.objects.filter(name=name).update(seen_at=Now() - time)


def test_a_worker_tells_where_it_runs_and_what_it_holds(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    for name in ("whole", "half"):
        (tmp_path / name).mkdir()
    (tmp_path / "whole" / "config.json").write_text("{}")
    registry.tell("gpu@here", ("gpu",), 2)
    worker = Worker.objects.get()
    assert (worker.owner, worker.host, worker.queues) == (str(this_process()), host_id(), ["gpu"])
    assert {"whole", weights.MINILM} <= set(worker.held)
    assert "half" not in worker.held
    assert {"code", "torch", "python"} <= set(worker.versions)
    assert worker.memory_bytes > 2**28


def test_a_worker_that_tells_again_has_one_row() -> None:
    for processes in (1, 2):
        registry.tell("io@here", ("io", "default"), processes)
    assert Worker.objects.get().processes == 2


def test_silence_is_death_and_in_the_end_forgotten() -> None:
    for name in ("alive", "silent", "forgotten"):
        Worker.objects.tell(name, name=name, host=name, hostname=name)
    silent_for("silent", ALIVE * 1.1)
    silent_for("forgotten", REMEMBERED * 1.1)
    assert [worker.name for worker in Worker.objects.alive()] == ["alive"]
    Worker.objects.tell("alive", name="alive", host="alive", hostname="alive")
    assert set(Worker.objects.values_list("name", flat=True)) == {"alive", "silent"}
