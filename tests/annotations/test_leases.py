"""Leases: one worker per row, the dead are noticed, and the late do no harm."""

import os
import subprocess
import sys
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from annotations.models import Job, LeaseLost, leases
from annotations.models.leases import LEASE, MAX_ATTEMPTS, owner_name
from tests import factories

WORKERS = 20
ROWS = 50
State = Job.State


@pytest.fixture
def claimed(db: None) -> Job:
    return Job.objects.claim(factories.make_job().pk)


def expire(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def dead_pid() -> int:
    """A process id that was used and is free again."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.django_db(transaction=True)
def test_twenty_workers_claim_each_of_fifty_rows_exactly_once() -> None:
    project = factories.make_project()
    ids = [factories.make_job(project).pk for _ in range(ROWS)]
    start = threading.Barrier(WORKERS)

    def work(_: int) -> list[tuple[int, uuid.UUID]]:
        start.wait()
        try:
            return [(pk, job.lease_token) for pk in ids if (job := Job.objects.claim(pk)) is not None]
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        won = [pair for pairs in pool.map(work, range(WORKERS)) for pair in pairs]
    assert Counter(pk for pk, _ in won) == Counter(ids)
    assert dict(won) == dict(Job.objects.values_list("pk", "lease_token"))
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}


def test_a_claim_says_who_works_and_until_when(claimed: Job) -> None:
    assert (claimed.state, claimed.lease_owner, claimed.attempt) == (State.RUNNING, owner_name(), 1)
    assert timedelta() < claimed.lease_until - timezone.now() <= LEASE


def test_a_claimed_row_cannot_be_claimed_again(claimed: Job) -> None:
    assert Job.objects.claim(claimed.pk) is None


def test_a_row_whose_lease_ran_out_can_be_claimed(claimed: Job) -> None:
    expire(claimed)
    again = Job.objects.claim(claimed.pk)
    assert again.attempt == 2
    assert again.lease_token != claimed.lease_token


@pytest.mark.parametrize("state", [State.DONE, State.DONE_WITH_ERRORS, State.FAILED, State.CANCELLED])
@pytest.mark.django_db
def test_a_row_that_is_over_cannot_be_claimed(state: str) -> None:
    assert Job.objects.claim(factories.make_job(state=state).pk) is None


def test_the_holder_writes_inside_its_fence(claimed: Job) -> None:
    with claimed.fenced():
        Job.objects.filter(pk=claimed.pk).update(report={"written": True})
    claimed.refresh_from_db()
    assert claimed.report == {"written": True}


@pytest.mark.parametrize("why", ["claimed by another", "cancelled", "reaped"])
def test_a_worker_that_lost_its_lease_writes_nothing(claimed: Job, why: str) -> None:
    if why == "claimed by another":
        expire(claimed)
        assert Job.objects.claim(claimed.pk)
    elif why == "cancelled":
        Job.objects.filter(pk=claimed.pk).update(state=State.CANCELLED)
    else:
        expire(claimed)
        Job.objects.reap()
    before = Job.objects.filter(pk=claimed.pk).values().get()
    with pytest.raises(LeaseLost), claimed.fenced():
        Job.objects.filter(pk=claimed.pk).update(report={"written": True})
    assert not claimed.beat()
    if why != "cancelled":
        assert not claimed.finish(State.DONE)
        claimed.release("too late")
    assert Job.objects.filter(pk=claimed.pk).values().get() == before


def test_what_failed_inside_the_fence_is_taken_back(claimed: Job) -> None:
    def write_and_fail() -> None:
        with claimed.fenced():
            Job.objects.filter(pk=claimed.pk).update(report={"written": True})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    claimed.refresh_from_db()
    assert claimed.report == {}


def test_a_beat_extends_the_lease(claimed: Job) -> None:
    Job.objects.filter(pk=claimed.pk).update(lease_until=timezone.now() + timedelta(seconds=5))
    assert claimed.beat()
    claimed.refresh_from_db()
    assert claimed.lease_until > timezone.now() + LEASE - timedelta(seconds=5)


def test_finishing_gives_the_lease_back(claimed: Job) -> None:
    assert claimed.finish(State.DONE, report={"files": 1})
    claimed.refresh_from_db()
    assert (claimed.state, claimed.lease_token, claimed.lease_until) == (State.DONE, None, None)
    assert claimed.finished_at is not None
    assert claimed.is_over


def test_an_unexpected_error_queues_the_row_again_until_its_attempts_are_used_up(claimed: Job) -> None:
    for attempt in range(1, MAX_ATTEMPTS + 1):
        claimed.release(f"error {attempt}")
        claimed.refresh_from_db()
        assert claimed.last_error == f"error {attempt}"
        assert claimed.state == (State.FAILED if attempt == MAX_ATTEMPTS else State.QUEUED)
        claimed = Job.objects.claim(claimed.pk)
    assert claimed is None


# Reaping ---------------------------------------------------------------------------------------------------------


def test_reaping_leaves_living_workers_alone(claimed: Job) -> None:
    assert Job.objects.reap() == []
    claimed.refresh_from_db()
    assert (claimed.state, claimed.attempt) == (State.RUNNING, 1)


def test_reaping_frees_a_lease_that_ran_out(claimed: Job) -> None:
    expire(claimed)
    assert Job.objects.reap() == [claimed.pk]
    claimed.refresh_from_db()
    assert (claimed.state, claimed.lease_token, claimed.lease_owner) == (State.QUEUED, None, "")


def test_reaping_frees_the_lease_of_a_dead_process_at_once(claimed: Job) -> None:
    host = owner_name().rpartition(":")[0]
    Job.objects.filter(pk=claimed.pk).update(lease_owner=f"{host}:{dead_pid()}")
    assert Job.objects.reap() == [claimed.pk]


def test_reaping_knows_nothing_of_processes_on_other_machines(claimed: Job) -> None:
    Job.objects.filter(pk=claimed.pk).update(lease_owner=f"elsewhere:{dead_pid()}")
    assert Job.objects.reap() == []


def test_reaping_names_everything_that_is_queued(db: None) -> None:
    queued = factories.make_job()
    factories.make_job(state=State.DONE)
    assert Job.objects.reap() == [queued.pk]


def test_a_row_whose_workers_died_three_times_is_parked(db: None) -> None:
    job = factories.make_job()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        claimed = Job.objects.claim(job.pk)
        assert claimed.attempt == attempt
        expire(claimed)
        assert Job.objects.reap() == ([] if attempt == MAX_ATTEMPTS else [job.pk])
    job.refresh_from_db()
    assert (job.state, job.lease_token) == (State.FAILED, None)
    assert "died 3 times" in job.last_error
    assert job.finished_at is not None
    assert Job.objects.claim(job.pk) is None


# Heartbeats ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_heartbeat_keeps_the_lease_while_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    job = Job.objects.claim(factories.make_job().pk)
    first = job.heartbeat_at
    with job.heartbeat():
        done = threading.Event()
        for _ in range(250):
            done.wait(0.02)
            job.refresh_from_db()
            if job.heartbeat_at > first:
                break
    assert job.heartbeat_at > first
    assert not any(thread.name == f"heartbeat-{job.pk}" for thread in threading.enumerate())


def test_a_beat_that_the_database_could_not_take_is_only_missed(claimed: Job) -> None:
    def work() -> bool:
        with pytest.raises(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        goes_on = claimed._beat_or_miss()
        with connection.cursor() as cursor:  # the next one gets a new connection
            cursor.execute("SELECT 1")
        connection.close()
        return goes_on

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result()


def test_the_owner_is_this_process() -> None:
    assert owner_name().endswith(f":{os.getpid()}")
