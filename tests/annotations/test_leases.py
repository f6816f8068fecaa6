"""Leases: one worker per row, the dead are noticed, and the late do no harm."""

import os
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db import OperationalError, connection
from django.utils import timezone

from annotations.hosts.identity import owner_of, shown, this_process
from annotations.models import Job, LeaseLost
from annotations.models.jobs import worker_leases
from annotations.models.jobs.worker_leases import MAX_ATTEMPTS, owner_name
from annotations.models.lease import Lease
from tests import factories
from tests.app_server import database_url

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
def test_the_end_of_work_waits_for_the_database_and_says_so_once(caplog, monkeypatch) -> None:
    claimed = Job.objects.claim(factories.make_job().pk)
    monkeypatch.setattr(worker_leases.time, "sleep", lambda seconds: None)
    tries = iter(range(4))

    def away(execute, sql, params, many, context):
        if next(tries, None) is not None:
            raise OperationalError("the connection is closed\nadvice")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(away):
        assert claimed.finish(State.DONE)
    assert [record.message for record in caplog.records] == [
        "the database does not answer, waiting: the connection is closed"
    ]
    claimed.refresh_from_db()
    assert claimed.state == State.DONE


@pytest.mark.slow
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
    assert timedelta() < claimed.lease_until - timezone.now() <= Job.LEASE


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
        claimed.retry_or_fail("too late")
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
    assert claimed.lease_until > timezone.now() + Job.LEASE - timedelta(seconds=5)


def test_finishing_gives_the_lease_back(claimed: Job) -> None:
    assert claimed.finish(State.DONE, report={"files": 1})
    claimed.refresh_from_db()
    assert (claimed.state, claimed.lease_token, claimed.lease_until) == (State.DONE, None, None)
    assert claimed.finished_at is not None
    assert claimed.is_over


def test_an_unexpected_error_queues_the_row_again_until_its_attempts_are_used_up(claimed: Job) -> None:
    for attempt in range(1, MAX_ATTEMPTS + 1):
        claimed.retry_or_fail(f"error {attempt}")
        claimed.refresh_from_db()
        assert claimed.last_error == f"error {attempt}"
        assert claimed.state == (State.FAILED if attempt == MAX_ATTEMPTS else State.QUEUED)
        claimed = Job.objects.claim(claimed.pk)
    assert claimed is None


def test_reaping_leaves_living_workers_alone(claimed: Job) -> None:
    assert Job.objects.reap() == []
    claimed.refresh_from_db()
    assert (claimed.state, claimed.attempt) == (State.RUNNING, 1)


def test_reaping_frees_a_lease_that_ran_out(claimed: Job) -> None:
    expire(claimed)
    assert Job.objects.reap() == [claimed.pk]
    claimed.refresh_from_db()
    assert (claimed.state, claimed.lease_token, claimed.lease_owner) == (State.QUEUED, None, "")


def reaped(job: Job, **fields) -> bool:
    """Whether a lease of this process would be freed if these facts about its owner were others."""
    Job.objects.filter(pk=job.pk).update(lease_owner=str(replace(this_process(), **fields)))
    return Job.objects.reap() == [job.pk]


def test_reaping_frees_the_lease_of_a_dead_process_at_once(claimed: Job) -> None:
    assert reaped(claimed, pid=dead_pid())


def test_a_process_that_got_the_number_of_a_dead_one_is_another(claimed: Job) -> None:
    assert not reaped(claimed)
    assert reaped(claimed, start="1")


@pytest.mark.parametrize("fact", ["host", "boot", "namespace"])
def test_reaping_does_not_judge_processes_that_it_cannot_see(claimed: Job, fact: str) -> None:
    """Hosts and containers may have the same name; the same number means another process there."""
    assert not reaped(claimed, pid=dead_pid(), **{fact: "another"})


@pytest.mark.parametrize("owner", ["elsewhere:1", "", "written by another version"])
def test_an_owner_that_cannot_be_read_is_left_alone(claimed: Job, owner: str) -> None:
    Job.objects.filter(pk=claimed.pk).update(lease_owner=owner)
    assert Job.objects.reap() == []


@pytest.mark.slow
def test_a_container_with_the_same_host_name_is_another_owner(settings, db) -> None:
    code = "import django; django.setup(); from annotations.hosts.identity import this_process; print(this_process())"
    inside = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    # It would take the users of embedded servers for dead, so it is told of servers.
    servers = {"DATABASE_URL": database_url(), "REDIS_URL": settings.REDIS_URL, "WEBNAV_VAR": str(settings.VAR_DIR)}
    environment = os.environ | servers | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    try:
        done = subprocess.run(inside, capture_output=True, text=True, check=True, timeout=60, env=environment)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no namespace of processes can be made here: {error}")
    owner = owner_of(done.stdout.strip())
    assert (owner.hostname, owner.host, owner.boot) == (
        this_process().hostname,
        this_process().host,
        this_process().boot,
    )
    assert owner.namespace != this_process().namespace
    assert not owner.is_gone  # it has ended, but who is here cannot know that


@pytest.mark.parametrize("hours", [-2, 2])
def test_the_clock_of_a_host_does_not_matter(claimed: Job, monkeypatch, hours: int) -> None:
    wrong = datetime.now(UTC) + timedelta(hours=hours)
    monkeypatch.setattr(timezone, "now", lambda: wrong)
    assert Job.objects.reap() == []
    assert Job.objects.claim(claimed.pk) is None
    assert claimed.beat()
    claimed.refresh_from_db()
    assert abs(claimed.lease_until - datetime.now(UTC) - Job.LEASE) < timedelta(seconds=30)


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


@pytest.mark.django_db(transaction=True)
def test_a_heartbeat_keeps_the_lease_while_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_leases, "HEARTBEAT_SECONDS", 0.02)
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


@pytest.mark.django_db(transaction=True)
def test_who_works_on_a_row_learns_at_once_that_it_was_cancelled_or_deleted() -> None:
    for end in ({"state": State.CANCELLED, **Job.FREE}, {"lease_token": uuid.uuid4()}, None):
        job = Job.objects.claim(factories.make_job().pk)
        with job.heartbeat() as is_lost:
            time.sleep(2 * worker_leases.LOOK_SECONDS + 0.5)
            assert not is_lost()
            row = Job.objects.filter(pk=job.pk)
            row.update(**end) if end else row.delete()
            until = time.monotonic() + 10
            while not is_lost() and time.monotonic() < until:
                time.sleep(0.05)
            assert is_lost()


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
    assert owner_of(owner_name()) == this_process()
    assert shown(owner_name()).endswith(f":{os.getpid()}")


def test_people_and_workers_hold_rows_by_one_lease() -> None:
    """Whatever table has a token has its lease from `Lease`: what extends it, frees it, and who may write by it."""
    held = [model for model in apps.get_models() if any(field.name == "lease_token" for field in model._meta.fields)]
    assert {"Job", "Shard", "Assignment"} <= {model.__name__ for model in held}
    rows = [model for model in held if not hasattr(model, "pgh_tracked_model")]  # not what the audit trail keeps
    assert [model.__name__ for model in rows if not issubclass(model, Lease)] == []
    assert all(model.LEASE and set(model.WRITABLE) <= set(model.State.values) for model in rows)
