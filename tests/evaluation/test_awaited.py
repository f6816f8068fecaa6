"""While an agent waits for its person to say something, its worker does what else waits; once they have said it, the
worker comes back before all else."""

import os
import re
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.guard.policy import Risk
from agents.models import Drive, HeldStep, Run, Trajectory
from agents.models.awaited import last_asked
from agents.training.prepare.ahead import WorkQueue
from annotations.hosts.identity import Owner, _stat, this_process
from annotations.jobs import stopping
from annotations.models import Dataset, Project, Role, Worker
from annotations.models.jobs.worker_leases import owner_name
from evaluation import tasks
from evaluation.models import Shard, Study
from evaluation.models.shards import WATCHED_FOR
from evaluation.studies import placing
from evaluation.studies.taking_part.talking import talk
from tests import factories
from tests.evaluation.study_rows import make_study
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def talked(db) -> Shard:
    """The conversation that ada has with an agent, which waits for her since her page was read by a worker."""
    project = factories.make_project(slug="talked")
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    episode = talk(ada, project, "grounded", "nordline", "Wave.").trajectory
    Run.objects.update(state=Run.State.RUNNING)
    waits = {"waits": "turn", "until": Drive.later(), "stands_at": timezone.now()}
    Drive.objects.create(trajectory=episode, person=ada, **waits)
    shard = Shard.objects.get()
    Shard.objects.update(published_at=timezone.now(), heartbeat_at=timezone.now())
    return shard


@pytest.fixture
def other(talked: Shard, hash_encoder) -> Run:
    """A run that was asked for later."""
    run = make_study(make_recorded(talked.run.dataset.project)).runs.get()
    run.shards.update(published_at=timezone.now())
    return run


def make_recorded(project: Project) -> Dataset:
    dataset = factories.make_dataset(project)
    factories.make_conversation(1, 2, dataset=dataset)
    return dataset


def watched() -> bool:
    stopping.forget()
    return stopping.makes_way()


def test_a_talk_whose_worker_has_ended_says_so_and_comes_before_other_work(talked: Shard, other: Run) -> None:
    Shard.objects.filter(pk=talked.pk).update(lease_owner=owner_name())
    episode = talked.run.trajectories.get()
    assert episode.waits_text() == ""
    assert placing.best_of(talked.pk) == other.shards.get().pk
    with subprocess.Popen(["true"]) as ended:
        host, _, rest = owner_name().partition(f":{os.getpid()}")
        gone = f"{host}:{ended.pid}{rest}"
    Shard.objects.filter(pk=talked.pk).update(lease_owner=gone)
    assert episode.waits_text() == "the browser was lost with its worker"
    assert placing.best_of(talked.pk) == talked.pk


def test_a_study_goes_on_while_nothing_but_words_is_waited_for(talked: Shard, other: Run) -> None:
    assert placing.best_of(talked.pk) == other.shards.get().pk
    assert not other.shards.get().makes_way()
    assert not watched()
    tasks.run_shard(talked.pk)
    assert (other.steps.count(), other.shards.get().state) == (2, "done")
    assert placing.best_of(talked.pk) == talked.pk, "nothing else waits"


def test_what_was_said_is_heard_before_all_else(talked: Shard, other: Run) -> None:
    Shard.objects.update(created_at=timezone.now() - WATCHED_FOR)
    drive = Drive.objects.get()
    drive = Drive.objects.take(drive.trajectory, drive.person, Drive.State.PAUSED)
    assert not other.shards.get().makes_way(), "her page is open, and she has said nothing"
    drive.say(str(drive.lease_token), "Wave again.")
    assert other.shards.get().makes_way()
    assert placing.best_of(other.shards.get().pk) == talked.pk
    assert watched(), "trainings make way, too, though it was begun a while ago"


def test_a_pause_is_heard_before_all_else(talked: Shard, other: Run) -> None:
    """It waited for the end of a training's slice."""
    Shard.objects.update(created_at=timezone.now() - WATCHED_FOR)
    Drive.objects.all().delete()
    assert not watched()
    episode = talked.run.trajectories.get()
    drive = Drive.objects.take(episode, talked.run.created_by, Drive.State.PAUSED)
    assert watched()
    Drive.objects.filter(pk=drive.pk).update(stands_at=timezone.now())
    assert not watched(), "the agent stands still: what comes next is for a person"


def test_a_silence_that_was_too_long_is_ended_by_the_worker(talked: Shard, other: Run) -> None:
    Drive.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert other.shards.get().makes_way()
    assert placing.best_of(other.shards.get().pk) == talked.pk


def test_a_held_step_of_such_a_conversation_holds_up_nothing_either(talked: Shard, other: Run) -> None:
    Drive.objects.all().delete()
    assert other.shards.get().makes_way(), "its agent acts"
    risk, done = Risk("pay", "it says so", "page"), {"operation": "CLICK", "node_id": "1", "value": ""}
    held = HeldStep.objects.hold(talked.run.trajectories.get(), done, "Pay", risk, 60.0)
    assert not other.shards.get().makes_way()
    Shard.objects.update(created_at=timezone.now() - WATCHED_FOR)
    assert not watched()
    held.decide(Study.objects.first().created_by, HeldStep.State.APPROVED)
    assert other.shards.get().makes_way()
    assert watched(), "trainings make way for what comes of it, too"


def test_the_pages_of_both_say_what_they_wait_for(talked: Shard, other: Run) -> None:
    mine, waiting = Study.objects.order_by("pk")
    says = mine.progress().fields["detail"]
    assert "waits for ada to say the next instruction; its worker does other work meanwhile" in says
    Run.objects.filter(pk=other.pk).update(state="running", started_at=timezone.now() - timedelta(minutes=3))
    other.shards.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    registry.tell("gpu@here", ("gpu",), 1)
    Shard.objects.claim(talked.pk)
    told = waiting.progress().fields
    assert told["state_label"] == "waiting"
    assert (
        "last worked on 1 min ago: the only worker is busy with a person at work with an agent, which does not make way"
        in (told["detail"])
    )
    other.shards.update(heartbeat_at=timezone.now())
    assert waiting.progress().fields["state_label"] == "running", "its worker was there a moment ago"


def test_it_is_not_counted_among_what_comes_first(talked: Shard, other: Run) -> None:
    assert not WorkQueue().before(other)
    Drive.objects.all().delete()
    assert WorkQueue().before(other).runs == 1


def test_who_looks_at_it_is_told_why_nothing_happens(talked: Shard, other: Run) -> None:
    episode = talked.run.trajectories.get()

    def waits() -> str:
        return Trajectory.objects.get(pk=episode.pk).waits_text()

    Trajectory.objects.filter(pk=episode.pk).update(state=Trajectory.State.RUNNING)
    assert waits() == "", "it waits for her"
    drive = Drive.objects.get()
    drive = Drive.objects.take(drive.trajectory, drive.person, Drive.State.PAUSED)
    drive.say(str(drive.lease_token), "Wave again.")
    check_waited(waits(), 0, ": no worker runs: “make run” starts one")
    registry.tell("gpu@here", ("gpu",), 1)
    Shard.objects.claim(other.shards.get().pk)
    said_for(12)
    study = Study.objects.latest("pk")
    busy = f"the only worker is busy with the study “{study.name}”, which makes way after what is at hand"
    check_waited(waits(), 12, f": {busy}; one more worker would begin at once (GPU_PROCESSES)")
    shard = Shard.objects.claim(talked.pk)
    assert waits() == ""
    shard.tell("loading models")
    check_waited(waits(), 12, ": its worker is loading models")
    shard.tell("acting in 1 browser", loaded=True)
    assert waits() == "", "a worker has it"


def check_waited(told: str, seconds: int, why: str = "") -> None:
    """It waits for so many seconds, and for as many more as a busy machine takes to ask."""
    found = re.fullmatch(r"waiting for (?:under 1|(\d+)) s(.*)", told)
    assert found is not None, told
    assert seconds <= int(found[1] or 0) < seconds + 20
    assert found[2] == why


def said_for(seconds: float) -> None:
    """What its user has said in the conversation was said that long ago, long after a worker was at it last."""
    now = timezone.now()
    Shard.objects.waiting().update(created_at=now - timedelta(minutes=10), heartbeat_at=now - timedelta(minutes=9))
    Drive.objects.filter(state="back").update(ended_at=now - timedelta(seconds=seconds))


def test_the_time_in_which_its_person_thinks_is_no_waiting(talked: Shard) -> None:
    drive = Drive.objects.get()
    drive = Drive.objects.take(drive.trajectory, drive.person, Drive.State.PAUSED)
    drive.say(str(drive.lease_token), "Wave again.")
    said_for(3)
    check_waited(Shard.objects.get(pk=talked.pk).waited_text(), 3)
    waited = {"waits": "turn", "until": Drive.later(), "stands_at": timezone.now(), "person": drive.person}
    Drive.objects.create(trajectory=drive.trajectory, **waited)
    said_for(4)
    assert last_asked(talked.run_id) == Drive.objects.earliest("pk").ended_at, "she thinks again"
    Drive.objects.filter(ended_at=None).update(until=timezone.now() - timedelta(seconds=2))
    check_waited(Shard.objects.get(pk=talked.pk).waited_text(), 2)  # a worker is to end it


def test_a_deed_that_waits_for_a_worker_is_told_from_when_it_was_done_though_the_page_was_loaded_again(
    talked: Shard,
) -> None:
    drive = Drive.objects.get()
    drive = Drive.objects.take(drive.trajectory, drive.person, Drive.State.DRIVEN)
    drive.stand({"names": [], "instruction": "Wave."}, b"")
    drive.ask(str(drive.lease_token), 1, {"operation": "CLICK", "node_id": "3", "value": "", "point": None})
    said_for(0)
    Drive.objects.update(until=drive.until - timedelta(seconds=70))
    Drive.objects.take(drive.trajectory, drive.person, Drive.State.DRIVEN)
    assert Shard.objects.get(pk=talked.pk).waited_text().startswith("waiting for 1 min")


def test_only_processes_of_workers_are_counted_as_busy(talked: Shard, other: Run) -> None:
    """A command that does the work in a terminal, and a worker that has ended, take nothing that waits."""
    Drive.objects.all().delete()
    registry.tell("gpu@here", ("gpu",), 1)
    one = Shard.objects.claim(other.shards.get().pk)

    def busy() -> str:
        return Shard.objects.get(pk=talked.pk).busy_text()

    assert busy().startswith("the only worker is busy with the study")
    me = this_process()
    with subprocess.Popen(["sleep", "60"]) as forked:
        Shard.objects.filter(pk=one.pk).update(lease_owner=str(process_of(forked.pid)))
        assert busy().startswith("the only worker is busy with the study")
        Worker.objects.update(owner=str(replace(me, pid=1)))
        assert busy() == ""
        Worker.objects.update(owner=str(me))
        forked.kill()
    assert busy() == ""
    away = replace(me, host="another")
    Shard.objects.filter(pk=one.pk).update(lease_owner=str(replace(away, pid=7)))
    assert busy() == ""
    Worker.objects.update(owner=str(away))
    assert busy().startswith("the only worker"), "that it has forked this one cannot be seen from here"
    registry.tell("gpu@here", ("gpu",), 1)
    assert busy() == "", "one of two is free"
    held = Shard.anew() | {"lease_owner": str(me)}
    factories.make_shard(other, index=1, state="running", **held)
    assert busy().startswith("all 2 workers are busy with")


def process_of(pid: int) -> Owner:
    facts = _stat(pid)
    return replace(this_process(), pid=pid, start=facts[19] if facts else "")


def test_studies_of_other_projects_are_not_named(talked: Shard) -> None:
    registry.tell("gpu@here", ("gpu",), 1)
    elsewhere = make_study(make_recorded(factories.make_project(slug="secret"))).runs.get()
    Shard.objects.claim(elsewhere.shards.get().pk)
    told = Shard.objects.get(pk=talked.pk).busy_text()
    assert told.startswith("the only worker is busy with the steps of another run")
