"""People act in a browser of a worker: while they think it does other work, and no other process takes it over."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils import timezone

from agents.environments.browser import find
from agents.live.showing import ShownGoal
from agents.models import Drive, Run, Trajectory
from annotations.hosts.identity import Owner, _stat, this_process
from annotations.models import Role
from evaluation import tasks
from evaluation.models import Shard
from evaluation.studies import placing
from evaluation.studies.taking_part.showing import show
from tests import factories
from tests.beside import BROWSER, needs
from tests.evaluation.study_rows import make_study
from tests.evaluation.test_kill import SECONDS
from tests.evaluation.workers import Worker

has_browser = pytest.mark.skipif(not os.environ.get("CI") and find() is None, reason=needs(BROWSER, "none was found"))
SOON = 40.0  # seconds; a worker that nobody else needs keeps what a person drives for a minute


def shown() -> Trajectory:
    project = factories.make_project(slug="shown")
    ada = factories.make_user(Role.REVIEWER, project, username="ada")
    return show(ada, project, ShownGoal("miniwob", "click-test", 1)).trajectory


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@has_browser
def test_a_study_runs_through_while_a_demonstration_stands_open_with_one_worker(worker) -> None:
    episode = shown()
    one: Worker = worker("one")
    drive = Drive.objects.get()

    def stands() -> bool:
        drive.refresh_from_db()
        return drive.stands_at is not None

    one.wait_until(stands, SECONDS, "window to act in")
    dataset = factories.make_dataset(factories.make_project())
    factories.make_conversation(1, 3, dataset=dataset)
    study = make_study(dataset, publish=True).runs.get()
    shard = Shard.objects.get(run=episode.run)

    def given_back() -> bool:
        Drive.objects.filter(pk=drive.pk).update(**drive.longer())  # her page is open
        return Shard.objects.get(pk=shard.pk).state == Shard.State.QUEUED

    one.wait_until(given_back, SOON, "worker for others")
    one.wait_until(lambda: Run.objects.get(pk=study.pk).is_over, SECONDS, "end of the study")
    assert Drive.objects.get().state == Drive.State.DRIVEN
    (node,) = [node for node, name in drive.window["names"] if "Click Me" in name]
    drive.refresh_from_db()
    drive.ask(str(drive.lease_token), drive.number, {"operation": "CLICK", "node_id": node, "value": "", "point": None})
    one.wait_until(lambda: Run.objects.get(pk=episode.run_id).is_over, SECONDS, "end of what is shown")
    step = episode.steps.get()
    assert (step.operation, step.reward, str(step.done_by)) == ("CLICK", 1.0, "ada")


@pytest.fixture
def other_process() -> Iterator[Owner]:
    """A live process that is not this one."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    facts = _stat(process.pid)
    yield replace(this_process(), pid=process.pid, start=facts[19] if facts else "")
    process.kill()
    process.wait()


@pytest.fixture
def kept(db, other_process: Owner, messages: list[int]) -> Shard:
    """A demonstration whose browser another process keeps."""
    episode = shown()
    Run.objects.update(state=Run.State.RUNNING)
    Trajectory.objects.update(state=Trajectory.State.RUNNING)
    Drive.objects.update(stands_at=timezone.now(), until=Drive.later())
    now = timezone.now()
    Shard.objects.update(published_at=now, heartbeat_at=now, lease_owner=str(other_process))
    return Shard.objects.get(run=episode.run)


def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What messages are sent on."""
    found: list[tuple] = []
    monkeypatch.setattr(tasks.run_shard, "apply_async", lambda args, **options: found.append((args, options["queue"])))
    return found


def test_nobody_else_takes_over_what_a_live_process_keeps_for_people(kept: Shard, other_process, monkeypatch) -> None:
    on = sent(monkeypatch)
    assert placing.keeper_queue(kept.pk) == f"gpu.{other_process.host}"
    tasks.run_shard(kept.pk)
    kept.refresh_from_db()
    assert (kept.state, kept.lease_owner, on) == (
        "queued",
        str(other_process),
        [((kept.pk,), placing.keeper_queue(kept.pk))],
    )
    drive = Drive.objects.get()
    drive.asked = {"operation": "CLICK", "node_id": "1", "value": "", "point": None}
    drive.save()
    assert Shard.objects.watched().exists()
    assert not Shard.objects.watched().for_this_process().exists(), "so nothing makes way for it here"
    assert placing.best_of(kept.pk) == kept.pk


def test_a_message_of_it_finds_other_work(kept: Shard, hash_encoder, monkeypatch) -> None:
    on = sent(monkeypatch)
    dataset = factories.make_dataset(factories.make_project())
    factories.make_conversation(1, 2, dataset=dataset)
    run = make_study(dataset).runs.get()
    run.shards.update(published_at=timezone.now())
    tasks.run_shard(kept.pk)
    assert (run.shards.get().state, len(on)) == ("done", 1)


def test_what_a_dead_process_kept_is_gone_on_with(kept: Shard, other_process) -> None:
    os.kill(other_process.pid, 9)
    os.waitpid(other_process.pid, 0)
    assert placing.keeper_queue(kept.pk) is None
    assert Shard.objects.for_this_process().filter(pk=kept.pk).exists()


def test_a_take_over_waits_for_its_person_and_brings_its_worker_back(db, messages: list[int]) -> None:
    """A study in which somebody drives the last episode, which the worker has given back."""
    dataset = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 60})
    ada, run = factories.make_user(username="ada"), factories.make_run(dataset, state="running")
    goals = [factories.make_conversation(1, 0, dataset=dataset) for _ in range(2)]
    first, last = (factories.make_trajectory(run, goal, stored=0, state="running") for goal in goals)
    Shard.objects.create(run=run, index=0, conversation_ids=[goal.pk for goal in goals], step_count=2)
    drive = Drive.objects.take(last, ada, Drive.State.DRIVEN)
    assert Shard.objects.watched().exists(), "she waits for the window"
    Drive.objects.update(stands_at=timezone.now())
    assert not Shard.objects.watched().exists()
    resting = Shard.objects.filter(placing.awaits_people("run"))
    assert not resting.exists(), "the other episode goes on"
    Trajectory.objects.filter(pk=first.pk).update(state="done")
    assert resting.exists()
    other = make_study(_recorded()).runs.get().shards.get()
    assert not other.makes_way()
    assert Shard.objects.get(run=run).others_wait()
    assert not other.others_wait(), "nothing but her is waited for there"
    Drive.objects.filter(pk=drive.pk).update(asked={"operation": "CLICK", "node_id": "1", "value": "", "point": None})
    assert not resting.exists()
    assert other.makes_way(), "what she asks for is done before other steps"


def _recorded():
    dataset = factories.make_dataset(factories.make_project())
    factories.make_conversation(1, 2, dataset=dataset)
    return dataset
