"""What is known of workers that die: their last lines, their memory, and whether the work got on before."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from annotations.jobs import running
from annotations.models import Job
from annotations.models.jobs.worker_leases import MAX_ATTEMPTS
from annotations.monitor import last_words
from tests import factories
from tests.evaluation.workers import environment

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 300 * 1024**2
WORKER = f"""
import django; django.setup()
import logging, os, signal, sys, time
from annotations.models import Job
job = Job.objects.claim(int(sys.argv[1]))
with job.heartbeat():
    for number in range(700):
        logging.getLogger("work").warning("line %d", number)
    held = bytearray({MEMORY})
    time.sleep(1.2)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def die_with(job: Job) -> None:
    command = [sys.executable, "-c", WORKER, str(job.pk)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_leaves_its_last_lines_and_its_memory_on_the_row() -> None:
    job = factories.make_job()
    die_with(job)
    assert Job.objects.reap() == [job.pk]
    job.refresh_from_db()
    lines = job.last_log.splitlines()
    assert (len(lines), "line 699" in lines[-1]) == (last_words.LINES, True)
    assert job.peak_memory > MEMORY
    assert job.gpu_memory is None
    assert last_words.take(Job.words_key(job.pk)) is None, "nothing is left on the disk"


HANGS = """
import django; django.setup()
import hashlib, sys
from annotations.models import Job
from annotations.sandbox import deadline
deadline.end_what_hangs()
deadline.GRACE = 0.2
job = Job.objects.claim(int(sys.argv[1]))
with job.heartbeat(), deadline.page_deadline(0.2):
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)  # one call, which looks at no signal
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_where_a_page_hung_stands_on_the_row_and_after_three_times_nobody_tries_it_again() -> None:
    job = factories.make_job()
    Job.objects.filter(pk=job.pk).update(attempt=MAX_ATTEMPTS - 1)
    command = [sys.executable, "-c", HANGS, str(job.pk)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert Job.objects.reap() == []
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "Timeout (0:00:00.4" in job.last_log
    assert 'File "<string>", line 10 in <module>' in job.last_log


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_work_of_a_killed_worker_can_be_claimed_at_once() -> None:
    job = factories.make_job()
    die_with(job)
    again = Job.objects.claim(job.pk)
    assert again is not None
    assert (again.attempt, "line 699" in again.last_log) == (2, True)


@pytest.mark.django_db
def test_an_unexpected_error_leaves_the_lines_before_it_and_where_it_happened(monkeypatch) -> None:
    def fail(job: Job) -> bool:
        last_words.logging.getLogger("work").warning("just before")
        raise ZeroDivisionError

    monkeypatch.setitem(running.RUNNERS, Job.Kind.EXPORT, fail)
    job = Job.objects.claim(factories.make_job().pk)
    with pytest.raises(ZeroDivisionError):
        running.run(job)
    job.refresh_from_db()
    assert "just before" in job.last_log
    assert "ZeroDivisionError" in job.last_log
    assert job.peak_memory > 1024**2


@pytest.mark.django_db
def test_work_that_ends_well_leaves_nothing(settings) -> None:
    job = Job.objects.claim(factories.make_job().pk)
    with job.heartbeat():
        pass
    job.refresh_from_db()
    assert job.last_log == ""
    assert last_words.take(Job.words_key(job.pk)) is None


def die(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    Job.objects.reap()


@pytest.mark.django_db
def test_five_deaths_with_progress_in_between_do_not_park_the_work() -> None:
    pk = factories.make_job().pk
    for done in range(1, 6):
        job = Job.objects.claim(pk)
        assert job.tell({"unit": "records", "done": done})
        die(job)
        assert Job.objects.get(pk=pk).state == Job.State.QUEUED


@pytest.mark.django_db
def test_work_that_dies_at_the_same_place_every_time_is_parked_although_it_tells_of_progress() -> None:
    pk = factories.make_job().pk
    for _ in range(MAX_ATTEMPTS + 1):
        if (job := Job.objects.claim(pk)) is not None:
            for done in range(4):
                assert job.tell({"unit": "records", "done": done})
            die(job)
    job = Job.objects.get(pk=pk)
    assert (job.state, "stored nothing in between" in job.last_error) == (Job.State.FAILED, True)


@pytest.mark.django_db
def test_a_job_that_is_tried_again_by_a_person_has_all_its_attempts() -> None:
    job = factories.make_job(state=Job.State.FAILED, attempt=3, furthest={"records": 9}, last_log="old")
    job = running.retry(job)
    assert (job.attempt, job.furthest, job.last_log) == (0, {}, "")


@pytest.mark.django_db
def test_a_parked_training_says_what_it_held_and_what_to_change() -> None:
    job = factories.make_job(
        kind="train",
        state=Job.State.RUNNING,
        attempt=MAX_ATTEMPTS,
        is_loaded=True,
        peak_memory=3 * 1024**3,
        gpu_memory=8 * 1024**3,
        lease_until=timezone.now() - timedelta(seconds=1),
        lease_owner=f"elsewhere:{os.getpid()}",
    )
    Job.objects.reap()
    job.refresh_from_db()
    assert "it held up to 3.0 GB and 8.0 GB of the device" in job.last_error
    assert "gradient_checkpointing=true" in job.last_error


@pytest.mark.django_db(transaction=True)
def test_a_database_that_was_restarted_meanwhile_is_waited_for_and_the_work_goes_on_at_once(monkeypatch) -> None:
    def lose_the_database(job: Job) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        raise AssertionError

    monkeypatch.setitem(running.RUNNERS, Job.Kind.EXPORT, lose_the_database)
    job = Job.objects.claim(factories.make_job().pk)
    assert running.run(job) is True, "who runs it tells workers again"
    job.refresh_from_db()
    assert (job.state, job.lease_until) == (Job.State.QUEUED, None)
