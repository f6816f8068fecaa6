"""Jobs that wait are told to workers once, and again only where their message may be lost."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations import tasks
from annotations.jobs import running, waking
from annotations.models import Job
from annotations.models.jobs.messaged import TELL_AGAIN, TELL_ANYWAY
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch, django_capture_on_commit_callbacks):
    """`told()`: the jobs that the reaper tells workers of."""
    sent: list[int] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", lambda args, **asked: sent.append(args[0]))

    def reap() -> list[int]:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            tasks.reap()
        return sorted(sent)

    return reap


@pytest.fixture
def job() -> Job:
    return Job.objects.create(kind=Job.Kind.TRAIN, project=factories.make_project())


def aged(job: Job, ago: timedelta) -> None:
    Job.objects.filter(pk=job.pk).update(published_at=timezone.now() - ago)


def test_a_job_is_told_once(job: Job, told) -> None:
    assert told() == [job.pk]
    assert told() == []


def test_it_is_told_again_where_its_queue_has_run_dry(job: Job, told, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"gpu": 40}
    monkeypatch.setattr(waking, "left_in", lambda queue: left[queue])
    aged(job, 2 * TELL_AGAIN)
    assert told() == [], "its own message is among them"
    left["gpu"] = 0
    assert told() == [job.pk]


def test_it_is_told_again_after_half_an_hour_in_any_case(job: Job, told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "left_in", lambda queue: 40)
    aged(job, 2 * TELL_ANYWAY)
    assert told() == [job.pk]


def test_one_that_failed_for_now_is_told_when_it_is_due(job: Job, told) -> None:
    """The message that led to its worker is used up."""
    aged(job, timedelta(seconds=5))
    claimed = Job.objects.claim(job.pk)
    claimed.retry_or_fail("the disk was full")
    Job.objects.filter(pk=job.pk).update(not_before=None)
    assert told() == [job.pk]


def test_messages_that_wait_in_redis_are_counted(settings) -> None:
    before = waking.left_in("nobody-takes-this")
    assert before == 0
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    assert waking.left_in("gpu") == 0, "where it cannot be known"
    assert running.job_task is not None
