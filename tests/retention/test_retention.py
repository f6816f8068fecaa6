"""What is kept too long is said before it is deleted, and deleted in batches; what something needs stays."""

import io
import json
import os
from datetime import timedelta
from pathlib import Path

import pgtrigger
import pytest
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.utils import timezone

from agents.models import LlmReply, Run, TrajectoryStep
from agents.retention import LlmReplies, Traces
from annotations.models import AccessEvent, Delivery, IdempotencyKey, Job, Webhook
from annotations.retention import forgetting, ours
from annotations.retention.kinds import KINDS, Freed
from annotations.storage import store
from evaluation.scores.scoring import RunScores
from tests import factories

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=400)


@pytest.fixture(autouse=True)
def _kept_for_thirty_days(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT, settings.VAR_DIR = tmp_path, tmp_path / "var"
    settings.RETENTION_DAYS = {kind.name: 30 for kind in KINDS}


def aged(rows, **fields) -> None:
    """Write times that `auto_now_add` would not take."""
    type(rows)._default_manager.filter(pk=rows.pk).update(**fields)


def file_of(job: Job, name: str) -> str:
    store.save(name, ContentFile(b"x" * 1000))
    Job.objects.filter(pk=job.pk).update(file=name)
    return name


def make_export(state: str = Job.State.DONE, finished_at=LONG_AGO) -> tuple[Job, str]:
    job = factories.make_job(kind=Job.Kind.EXPORT, state=state, finished_at=finished_at)
    return job, file_of(job, f"exports/{job.pk}.zip")


def test_every_kind_says_what_it_is_and_has_a_setting() -> None:
    names = [kind.name for kind in KINDS]
    assert {"exports", "uploads", "llm_replies", "traces", "sessions", "idempotency_keys", "jobs"} <= set(names)
    assert len(names) == len(set(names))
    assert all(kind.what for kind in KINDS)


def test_nothing_is_forgotten_where_the_setting_is_zero(settings) -> None:
    settings.RETENTION_DAYS = {kind.name: 0 for kind in KINDS}
    _, path = make_export()
    assert {found for _, found in forgetting.estimates()} == {Freed(0, 0)}
    assert forgetting.forget() == {}
    assert store.exists(path)


def test_old_exports_lose_their_file_and_keep_their_row() -> None:
    old, path = make_export()
    (_, young), (_, open_) = make_export(finished_at=timezone.now()), make_export(Job.State.RUNNING, None)
    assert ours.Exports().estimate() == Freed(1, 1000)
    assert store.exists(path), "an estimate deletes nothing"
    assert ours.Exports().forget() == 1
    assert not store.exists(path)
    assert store.exists(young)
    assert store.exists(open_)
    old.refresh_from_db()
    assert (old.file, old.state) == ("", "done")


def test_uploads_of_ended_imports_and_strays_go_and_open_ones_stay() -> None:
    failed = factories.make_job(kind=Job.Kind.IMPORT, state=Job.State.FAILED, finished_at=LONG_AGO)
    gone = file_of(failed, "uploads/" + "a" * 32)
    open_ = factories.make_job(kind=Job.Kind.IMPORT, state=Job.State.RUNNING)
    needed = file_of(open_, "uploads/" + "b" * 32)
    stray, fresh = "uploads/" + "c" * 32, "uploads/" + "d" * 32
    for name in (stray, fresh):
        store.save(name, ContentFile(b"xyz"))
    for name in (needed, stray):
        os.utime(store.local(name), (LONG_AGO.timestamp(), LONG_AGO.timestamp()))
    assert ours.Uploads().estimate() == Freed(2, 1003)
    assert ours.Uploads().forget() == 2
    assert [store.exists(name) for name in (gone, needed, stray, fresh)] == [False, True, False, True]


def test_a_session_goes_when_it_has_run_out_for_long_enough() -> None:
    for key, age in (("old", 40), ("late", 10), ("alive", -10)):
        Session.objects.create(session_key=key, session_data="x", expire_date=timezone.now() - timedelta(days=age))
    assert ours.Sessions().estimate().rows == 1
    ours.Sessions().forget()
    assert set(Session.objects.values_list("pk", flat=True)) == {"late", "alive"}


def test_answers_to_repeated_requests_and_sent_deliveries_go() -> None:
    key = IdempotencyKey.objects.create(user=factories.make_user(), key="k", request_sha256="0" * 64)
    aged(key, created_at=LONG_AGO)
    hook = Webhook.objects.create(project=factories.make_project(), url="https://example.org/", created_by=key.user)
    sent, waiting = (Delivery.objects.create(webhook=hook, event="e", payload={}, state=s) for s in ("sent", "waiting"))
    for row in (sent, waiting):
        aged(row, created_at=LONG_AGO)
    assert forgetting.forget() == {"idempotency_keys": 1, "deliveries": 1}
    assert list(Delivery.objects.all()) == [waiting]


def test_the_trail_of_access_goes_through_its_door() -> None:
    old, young = (AccessEvent.objects.create(action="sign-in", what=what, door="page") for what in ("old", "young"))
    with pgtrigger.ignore("annotations.AccessEvent:append_only"):
        aged(old, at=LONG_AGO)
    assert ours.AccessEvents().estimate().rows == 1
    assert ours.AccessEvents().forget() == 1
    assert list(AccessEvent.objects.filter(pk__in=[old.pk, young.pk])) == [young]


def test_jobs_of_models_jobs_with_files_and_open_jobs_stay() -> None:
    jobs = [factories.make_job(state=Job.State.DONE, finished_at=LONG_AGO) for _ in range(2)]
    factories.make_trained_model(job=jobs[0])
    with_file, _ = make_export(finished_at=LONG_AGO)
    open_ = factories.make_job(state=Job.State.RUNNING)
    assert ours.Jobs().forget() == 1
    assert set(Job.objects.values_list("pk", flat=True)) == {jobs[0].pk, with_file.pk, open_.pk}


def test_replies_go_but_not_those_that_an_open_run_may_ask_for() -> None:
    reply = LlmReply.objects.create(key="k", model="m", request={"prompt": "x" * 9000}, reply={"text": "y"})
    aged(reply, created_at=LONG_AGO)
    run = factories.make_run(state=Run.State.RUNNING)
    aged(run, created_at=LONG_AGO - timedelta(days=1))
    assert LlmReplies().estimate() == Freed(0, 0)
    assert LlmReplies().forget() == 0
    Run.objects.update(state=Run.State.DONE)
    rows, size = LlmReplies().estimate()
    assert rows == 1
    assert 50 < size < 9000, "as it is stored: compressed"
    assert LlmReplies().forget() == 1


def make_old_steps(count: int = 3, state: str = Run.State.DONE) -> Run:
    run = factories.make_run(state=state, finished_at=LONG_AGO if state == Run.State.DONE else None)
    conversation = factories.make_conversation(turns=1, steps=count, dataset=run.dataset)
    trajectory = factories.make_trajectory(run, conversation, stored=0)
    trace = {
        "rank": {"top": [{"node_id": str(i), "text": "x" * 50} for i in range(50)]},
        "plan": {"text": "CLICK 7", "prompt": "p" * 500},
        "act": {"representation": "[a] b → CLICK"},
    }
    for seq, step in enumerate(conversation.turns.get().steps.all()):
        factories.make_trajectory_step(trajectory, step, seq, trace=trace)
    return run


def scores_of(run: Run) -> list[tuple]:
    RunScores(run).store()
    return sorted(run.scores.values_list("preset", "metric", "grouping", "value", "low", "high", "n"))


def test_traces_go_and_the_scores_can_still_be_counted() -> None:
    run, open_ = make_old_steps(), make_old_steps(state=Run.State.RUNNING)
    before = scores_of(run)
    assert Traces().estimate().rows == 3
    assert Traces().forget(limit=2) == 2
    assert Traces().forget(limit=2) == 1
    assert Traces().forget() == 0
    thin = TrajectoryStep.objects.filter(run=run).first()
    assert thin.trace == {"forgotten": True, "plan": {"text": "CLICK 7"}, "act": {"representation": "[a] b → CLICK"}}
    assert "rank" in TrajectoryStep.objects.filter(run=open_).first().trace
    assert scores_of(run) == before
    assert before


@pytest.mark.slow
def test_a_replay_without_its_traces_still_opens(client) -> None:
    run = make_old_steps()
    Traces().forget()
    client.force_login(factories.make_superuser())
    trajectory = run.trajectories.get()
    assert client.get(f"/trajectories/{trajectory.pk}/", follow=True).status_code == 200
    answer = client.get(f"/api/trajectories/{trajectory.pk}/steps/0/")
    assert answer.status_code == 200, answer.content


def test_it_works_in_bounded_batches_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        Session.objects.create(session_key=f"s{number}", session_data="x", expire_date=LONG_AGO)
    monkeypatch.setattr(forgetting, "BATCH", 2)
    told = []
    assert forgetting.forget(told=lambda kind, count: told.append(count)) == {"sessions": 5}
    assert told == [2, 4, 5]
    Session.objects.create(session_key="s", session_data="x", expire_date=LONG_AGO)
    assert forgetting.forget(seconds=-1) == {}


def test_the_command_says_what_would_go_and_then_does_it() -> None:
    _, path = make_export()

    def run(*arguments: str) -> dict:
        out = io.StringIO()
        call_command("retention", "--json", *arguments, stdout=out)
        return json.loads(out.getvalue().splitlines()[-1])

    assert run("--dry-run")["exports"] == {"rows": 1, "bytes": 1000}
    assert run("--dry-run", "--days", "500")["exports"] == {"rows": 0, "bytes": 0}
    assert store.exists(path)
    assert run()["exports"] == {"rows": 1}
    assert not store.exists(path)
    out = io.StringIO()
    call_command("retention", "--dry-run", stdout=out)
    assert "files of finished exports" in out.getvalue()


def test_asked_as_if_the_settings_were_other_days_it_says_these_days() -> None:
    out = io.StringIO()
    call_command("retention", "--dry-run", "--days", "77", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines
    assert all(" 77 days " in line for line in lines)
