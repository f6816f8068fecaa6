"""A live conversation whose user is a person: what they say is heard once, whatever comes between."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import psutil
import pytest
from django.db import connection

from agents.environments.process import EnvironmentProcess
from agents.live import patience, running
from agents.live.browsers import EpisodeBrowsers
from agents.live.driving import Drives
from agents.models import Drive, HeldStep, Run, Trajectory, TrajectoryStep
from agents.models import driving as driving_rows
from agents.types import Action, Decision, Observation
from annotations.models import Role
from annotations.models.lease import database_now
from evaluation.models import Study
from evaluation.studies.running import create_study, run_inline
from evaluation.studies.taking_part.talking import talk
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("has_chromium")]


class Noting:
    """An agent that hovers once in each turn, then stops; it notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        pass

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.asked += [seen.instruction for seen in observations]
        return [Decision((Action("STOP" if seen.turn_actions else "HOVER", None),)) for seen in observations]


@pytest.fixture
def agent(monkeypatch) -> Noting:
    made = Noting()
    monkeypatch.setattr(running, "build_pipeline", lambda run, llm: made)
    return made


@pytest.fixture
def episode(db) -> Trajectory:
    """What ada has just begun."""
    project = factories.make_project(slug="talked")
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    return talk(ada, project, "grounded", "nordline", "Wave.").trajectory


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Where somebody would be waited for, the test fails soon."""
    monkeypatch.setattr(driving_rows, "HOLD_SECONDS", 2.0)


@pytest.fixture
def worker(monkeypatch) -> Iterator[Callable[[], threading.Thread]]:
    """`worker()`: one takes the conversation, in a thread. A user who says nothing more ends what is left."""
    threads: list[threading.Thread] = []

    def work() -> None:
        try:
            run_inline(Study.objects.get())
        finally:
            connection.close()

    def begin() -> threading.Thread:
        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield begin
    Drive.objects.update(until=database_now())
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def standing(seconds: float = 60.0) -> Drive:
    """The drive in which the agent stands still now."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (found := Drive.objects.open().exclude(stands_at=None).first()) is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("the agent does not stand still")


def taken(drive: Drive) -> tuple[Drive, str]:
    row = Drive.objects.take(drive.trajectory, drive.trajectory.run.created_by, Drive.State.PAUSED)
    return row, str(row.lease_token)


@pytest.mark.slow
def test_what_is_said_just_before_a_pause_is_heard_and_the_pause_holds(episode, agent, worker, monkeypatch) -> None:
    gate, look = threading.Lock(), Drives.look

    def gated(drives: Drives) -> None:
        with gate:
            look(drives)

    monkeypatch.setattr(Drives, "look", gated)
    thread = worker()
    first, token = taken(standing())
    with gate:  # the worker looks at neither alone
        first.say(token, "Wave again.")
        second, token = taken(first)
        assert second.pk != first.pk
    assert standing() == second, "the pause holds"
    turns = episode.conversation.turns.order_by("index")
    assert [turn.instruction for turn in turns] == ["Wave.", "Wave again."]
    assert "Wave again." not in agent.asked
    second.hand_back(token)
    third, token = taken(standing())
    third.end_talk(token, True)
    thread.join(60)
    steps = TrajectoryStep.objects.order_by("seq").select_related("turn")
    assert [(step.turn.index, step.operation) for step in steps] == [
        (0, "HOVER"),
        (0, "STOP"),
        (1, "HOVER"),
        (1, "STOP"),
        (1, ""),
    ]
    assert agent.asked == ["Wave."] * 2 + ["Wave again."] * 2


@pytest.mark.slow
@pytest.mark.parametrize("is_heard", [False, True])
def test_a_talk_ends_though_what_was_asked_for_waits_for_the_worker(
    episode, agent, worker, monkeypatch, is_heard: bool
) -> None:
    """Whether the worker has heard of it already or not."""
    gate, look, heard = threading.Lock(), Drives.look, threading.Event()
    carry_out = EpisodeBrowsers.carry_out

    def gated(drives: Drives) -> None:
        with gate:
            look(drives)

    def slow(browsers: EpisodeBrowsers, asked: Any) -> Any:
        done = carry_out(browsers, asked)
        if heard.is_set():
            time.sleep(1)
        return done

    monkeypatch.setattr(Drives, "look", gated)
    monkeypatch.setattr(EpisodeBrowsers, "carry_out", slow)
    thread = worker()
    first = standing()
    person = first.trajectory.run.created_by
    with gate if not is_heard else nullcontext():
        heard.set()
        drive = Drive.objects.take(first.trajectory, person, Drive.State.DRIVEN)
        token = str(drive.lease_token)
        node = next(node for node, name in drive.window["names"] if name.strip())
        drive.ask(token, drive.number, {"operation": "HOVER", "node_id": node, "value": "", "point": None})
        if is_heard:
            time.sleep(0.5)
        Drive.objects.get(pk=drive.pk).end_talk(token, True)
    thread.join(60)
    assert not thread.is_alive()
    episode.refresh_from_db()
    assert episode.state == "done"
    last = TrajectoryStep.objects.order_by("seq").last()
    assert (last.operation, last.reward) == ("", 1.0)


@pytest.mark.slow
def test_a_held_action_that_is_changed_to_a_stop_does_not_end_the_conversation(
    episode, agent, worker, monkeypatch
) -> None:
    decide, risk = agent.decide, {"kind": "order", "why": "It says so.", "by": "page", "sure": None}

    def held(seen: Sequence[Observation]) -> list[Decision]:
        return [replace(one, trace={"act": {"held": risk}}) for one in decide(seen)]

    monkeypatch.setattr(agent, "decide", held)
    thread = worker()
    while (row := HeldStep.objects.waiting().first()) is None:
        time.sleep(0.05)
    row.decide(episode.run.created_by, "changed", instead={"operation": "STOP", "node_id": None, "value": ""})
    drive, token = taken(standing())
    assert drive.waits == Drive.Waits.TURN
    assert [(step.operation, str(step.done_by)) for step in TrajectoryStep.objects.all()] == [("STOP", "ada")]
    drive.end_talk(token, True)
    thread.join(60)


@pytest.mark.slow
def test_the_worker_is_given_back_while_the_user_thinks_with_their_page_open(
    episode, agent, worker, monkeypatch
) -> None:
    given_back: list[str] = []
    park = running.LiveRun._park

    def noted(run: running.LiveRun) -> None:
        given_back.append(Drive.objects.open().get().words)
        park(run)

    monkeypatch.setattr(patience, "WAITING_SECONDS", 0.0)
    monkeypatch.setattr(running.LiveRun, "_park", noted)
    thread = worker()
    drive, token = taken(standing())
    before = len(given_back)
    end = time.monotonic() + 30
    while len(given_back) < before + 2 and time.monotonic() < end:
        time.sleep(0.05)
    drive.say(token, "Wave again.")
    drive, token = taken(standing())
    drive.end_talk(token, True)
    thread.join(60)
    assert set(given_back[before : before + 2]) == {"waits for ada to say the next instruction"}
    assert agent.asked == ["Wave."] * 2 + ["Wave again."] * 2, "it went on where it was"


@pytest.mark.slow
def test_a_browser_that_dies_in_a_later_turn_ends_the_conversation_and_replays_nothing(
    episode, agent, worker, monkeypatch
) -> None:
    opened: list[EnvironmentProcess] = []

    def opening(run: running.LiveRun) -> EnvironmentProcess:
        opened.append(EnvironmentProcess(run.limits["environment"]))
        return opened[-1]

    decide = agent.decide

    def dying(seen: Sequence[Observation]) -> list[Decision]:
        if seen[0].instruction == "Wave again.":
            opened[0].kill()
        return decide(seen)

    monkeypatch.setattr(running.LiveRun, "_open", opening)
    monkeypatch.setattr(agent, "decide", dying)
    thread = worker()
    drive, token = taken(standing())
    drive.say(token, "Wave again.")
    thread.join(60)
    assert not thread.is_alive(), "it has not begun anew"
    assert agent.asked == ["Wave.", "Wave.", "Wave again."]
    steps = TrajectoryStep.objects.order_by("seq").select_related("turn")
    assert [(step.turn.index, step.operation) for step in steps] == [(0, "HOVER"), (0, "STOP"), (1, "")]
    assert "the browser was lost" in steps[2].outcome
    assert Trajectory.objects.get().state == "done"


@pytest.mark.slow
@pytest.mark.parametrize("is_parked", [False, True])
def test_a_browser_that_dies_while_its_user_thinks_is_noticed_at_once(
    episode, agent, worker, monkeypatch, is_parked
) -> None:
    opened: list[EnvironmentProcess] = []
    parked_now = threading.Event()
    go_on = threading.Event()

    def opening(run: running.LiveRun) -> EnvironmentProcess:
        opened.append(EnvironmentProcess(run.limits["environment"]))
        return opened[-1]

    park = running.LiveRun._park

    def held_back(run: running.LiveRun) -> None:
        """Its worker does other work for a while."""
        park(run)
        parked_now.set()
        go_on.wait(30)

    monkeypatch.setattr(running.LiveRun, "_open", opening)
    if is_parked:
        monkeypatch.setattr(patience, "WAITING_SECONDS", 0.0)
        monkeypatch.setattr(running.LiveRun, "_park", held_back)
    thread = worker()
    try:
        standing()
        assert not is_parked or parked_now.wait(30)
        kill_chromium(opened[0])
        end = time.monotonic() + 10
        while not (said := Trajectory.objects.get().lost_text("")) and time.monotonic() < end:
            time.sleep(0.1)
        told = "the browser was lost while it waits for ada to say the next instruction; what was done before is kept"
        assert said == told
    finally:
        go_on.set()
    thread.join(60)
    assert not thread.is_alive()
    steps = TrajectoryStep.objects.order_by("seq")
    assert [step.operation for step in steps] == ["HOVER", "STOP", ""]
    assert Drive.objects.get().state == "lost"
    assert Run.objects.get().is_over


def kill_chromium(opened: EnvironmentProcess) -> None:
    """Kill the browser as the kernel does that lacks memory; the process that asks it lives on."""
    assert opened.is_alive()
    below = psutil.Process(opened.pid).children(recursive=True)
    zygote = next(one for one in below if "--type=zygote" in one.cmdline())
    found = next(one for one in zygote.parents() if "--type=zygote" not in one.cmdline())
    found.kill()


@pytest.mark.parametrize("heard", [True, False])
def test_a_worker_that_dies_after_words_were_said_loses_none_and_no_other_replays(
    episode, agent, impatient, heard
) -> None:
    if heard:
        episode.conversation.turns.create(index=1, source_id="later", instruction="Wave again.")
    Drive.objects.create(trajectory=episode, state="back", waits="turn", said="Wave again.", until=Drive.later())
    run_inline(Study.objects.get())
    assert agent.asked == []
    assert [turn.instruction for turn in episode.conversation.turns.order_by("index")] == ["Wave.", "Wave again."]
    step = TrajectoryStep.objects.select_related("turn").get()
    assert (step.turn.index, "the browser was lost" in step.outcome) == (1, True)


def test_a_conversation_that_its_user_ended_before_its_worker_died_comes_out_as_they_said(
    episode, agent, impatient
) -> None:
    ada = episode.run.created_by
    row = {"trajectory": episode, "person": ada, "state": "back", "waits": "turn", "until": Drive.later()}
    Drive.objects.create(**row, is_content=True)
    run_inline(Study.objects.get())
    step = TrajectoryStep.objects.get()
    assert (step.reward, step.outcome) == (1.0, "ended: ada got all that they asked for")
    assert (agent.asked, Trajectory.objects.get().state) == ([], "done")


@pytest.mark.slow
def test_an_end_at_a_limit_leaves_nobody_waited_for(episode, agent, impatient) -> None:
    goals = episode.run.dataset
    goals.live = goals.live | {"steps": 2}
    goals.save()
    run_inline(Study.objects.get())
    assert TrajectoryStep.objects.count() == 2
    assert Trajectory.objects.get().state == "done"
    assert not Drive.objects.open().exists()


def test_no_study_runs_where_nobody_would_say_what_is_next(episode) -> None:
    with pytest.raises(ValueError, match="talked-typed was typed by people turn by turn"):
        create_study(user=None, dataset=episode.run.dataset, recipes=["grounded"], publish=False)
    assert Study.objects.count() == 1
