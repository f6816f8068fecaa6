"""Models that are asked for a proposal: nobody who would answer, what is waited for, stopping, and who goes first."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from annotations.jobs import running, stopping
from annotations.models import Assignment, Job, Worker
from annotations.models.jobs.jobs import HELD_UP_FOR
from annotations.models.jobs.worker_leases import owner_name
from tests import factories
from tests.annotations.test_work_document import Browser
from tests.annotations.test_work_proposing import make_work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Takes connections, and nobody answers them."""
    stopping.forget()
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("LLM_BASE_URL", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        monkeypatch.setenv("LLM_MODEL", "test")
        yield


@pytest.fixture
def worker() -> Worker:
    Worker.objects.tell("one", name="gpu@one", host="one", hostname="one", queues=["gpu"])
    return Worker.objects.get()


@pytest.fixture
def assignment() -> Assignment:
    made = make_work(proposer="endpoint")
    made.begin()
    return made


@pytest.fixture
def browser(assignment: Assignment) -> Browser:
    return Browser(assignment).take()


def asked(browser: Browser) -> Job:
    return Job.objects.get(pk=browser.post("propose/", {"kind": "cuts"}, status=202)["job"])


def test_where_no_worker_is_that_is_said_within_a_second_with_what_to_do(browser: Browser) -> None:
    begun = time.monotonic()
    told = browser.post("propose/", {"kind": "cuts"}, status=422)["error"]
    assert time.monotonic() - begun < 1
    assert told.startswith("No worker is here that could ask the model.")
    assert "propose by rules" in told
    assert not Job.objects.exists()


def test_a_worker_of_files_alone_asks_no_model(browser: Browser, worker: Worker) -> None:
    Worker.objects.update(queues=["io", "default"])
    browser.post("propose/", {"kind": "cuts"}, status=422)


@pytest.mark.usefixtures("worker")
def test_who_waits_is_told_how_long_and_for_what(browser: Browser) -> None:
    job = asked(browser)
    busy = factories.make_job(kind="train", state="running")
    until = timezone.now() + timedelta(seconds=60)
    held = {"lease_owner": owner_name(), "lease_until": until, "heartbeat_at": timezone.now()}
    Job.objects.filter(pk=busy.pk).update(**held)
    Worker.objects.update(owner=owner_name())
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(seconds=7))
    told = browser.post("propose/", {"job": job.pk})
    assert (told["proposal"], told["error"]) == (None, "")
    assert told["waits"] == "Waiting for 7 s: the only worker is busy with other work (training)"


@pytest.mark.usefixtures("worker")
def test_proposals_that_were_asked_for_before_are_counted(browser: Browser) -> None:
    earlier = make_work(proposer="endpoint")
    earlier.begin()
    asked(Browser(earlier).take())
    job = asked(browser)
    assert browser.post("propose/", {"job": job.pk})["waits"].endswith("; 1 other proposal is made before it")


def test_a_worker_that_is_gone_is_missed(browser: Browser, worker: Worker) -> None:
    job = asked(browser)
    worker.delete()
    told = browser.post("propose/", {"job": job.pk})["waits"]
    assert told == "There is no worker any more that could ask the model"


@pytest.mark.usefixtures("worker")
def test_what_the_worker_is_at_is_told(browser: Browser) -> None:
    job = Job.objects.claim(asked(browser).pk)
    assert browser.post("propose/", {"job": job.pk})["waits"] == "The model is being loaded"
    job.go_on_of(9, "clauses", "Reading 3 of 9 clauses", 3)
    assert browser.post("propose/", {"job": job.pk})["waits"] == "Reading 3 of 9 clauses"


@pytest.mark.usefixtures("worker")
def test_who_waits_can_stop_it(browser: Browser) -> None:
    job = asked(browser)
    assert browser.get()["asked"] == job.pk, "a page that is opened later goes on waiting"
    assert browser.post("propose/", {"job": job.pk, "stop": True})["error"] == "It was stopped."
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert browser.get()["asked"] is None


@pytest.mark.usefixtures("worker")
def test_long_work_makes_way_for_a_proposal_and_a_proposal_for_nothing(browser: Browser, monkeypatch) -> None:
    told: list[tuple[tuple, dict]] = []
    monkeypatch.setattr(running.waking, "broker_answers", lambda: True)
    monkeypatch.setattr(running, "job_task", SimpleNamespace(apply_async=lambda *a, **more: told.append((a, more))))
    training = factories.make_job(kind="train", params={"name": "x", "changes": {}})
    assert not running.makes_way(training.pk)
    job = asked(browser)
    assert stopping.makes_way()
    assert running.makes_way(training.pk)
    assert not running.makes_way(job.pk)
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - HELD_UP_FOR)
    assert not running.makes_way(training.pk), "nobody waits that long, and no worker could take it"


@pytest.mark.usefixtures("worker")
def test_proposals_are_made_before_other_work_whatever_becomes_of_them(browser: Browser, monkeypatch, caplog) -> None:
    job, done = asked(browser), list[int]()

    def fail(row: Job) -> bool:
        done.append(row.pk)
        raise RuntimeError("the model is broken")

    monkeypatch.setitem(running.RUNNERS, "propose", fail)
    running.propose_first()
    assert done == [job.pk]
    job.refresh_from_db()
    assert (job.state, "the model is broken" in job.last_error) == ("queued", True)
