"""Following a study from a terminal."""

import psycopg
import pytest
from django.db import OperationalError, connection

from agents.models import Run
from annotations.jobs import following
from annotations.models import Job
from evaluation.studies.following import follow
from tests import factories
from tests.app_server import database_url
from tests.evaluation.study_rows import make_study
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(dataset):
    return make_study(dataset)


def cut_off(then: str = "") -> None:
    """End our connection as a restart of the database does, and say `then` from another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        if then:
            other.execute(then)


def test_a_restart_of_the_database_is_waited_for(study, monkeypatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    told: list[str] = []

    def write(line: str) -> None:
        told.append(line)
        if len(told) == 1:
            cut_off(then="UPDATE agents_run SET state = 'done'")

    follow(study, write)
    assert [line.partition(":")[0] for line in told] == ["queued", "done"]
    assert study.runs.get().state == Run.State.DONE


def test_no_worker_and_busy_ones_are_told_apart(study, dataset, monkeypatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(following, "PATIENCE_SECONDS", 0)

    def waits() -> str:
        """What is said of the wait, at which the study is ended."""
        told: list[str] = []

        def write(line: str) -> None:
            told.append(line)
            if line.startswith("waiting for"):
                Run.objects.filter(studies=study).update(state="done")

        Run.objects.filter(studies=study).update(state="queued")
        follow(study, write)
        return next(line for line in told if line.startswith("waiting for")).partition(": ")[2]

    assert waits() == "no worker runs: “make run” starts one. Or use --inline."
    registry.tell("gpu@here", ("gpu",), 1)
    assert waits() == "a worker is about to go on with what waits. Or use --inline."
    training = factories.make_job(dataset.project, kind="train")
    Job.objects.claim(training.pk)
    assert waits() == ("the only worker is busy with other work (training), which does not make way. Or use --inline.")


def test_a_database_that_stays_away_is_said(study, monkeypatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(following, "AWAY_SECONDS", -1)
    with pytest.raises(OperationalError):
        follow(study, lambda line: cut_off())
