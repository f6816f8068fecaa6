"""A live run that holds a risky action: it goes on as a person decides, and ends where nobody does."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Thread

import pytest
from django.db import connection

from agents.live import patience
from agents.live import running as live_running
from agents.live.goals import LiveGoals, new_goals
from agents.models import HeldStep, TrajectoryStep
from agents.types import Decision, Observation
from annotations.jobs import stopping
from annotations.models import Conversation
from evaluation.models import Score, Shard
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.live.conftest import KeptBrowser
from tests.live.oracle_agent import OraclePipeline, play_oracles

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("kept_browsers")]
RISK = {"kind": "order", "why": "“Click Me!” says so", "by": "page", "sure": None}


class RiskyOracle(OraclePipeline):
    """Its first action of an episode is risky."""

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        decided = zip(observations, super().decide(observations), strict=True)
        found = {"act": {"held": RISK, "representation": "button Click Me! → CLICK"}}
        return [one if seen.turn_actions else replace(one, trace=found) for seen, one in decided]


class Counted:
    """How often a shard was given back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        hand_back = Shard.hand_back

        def counted(shard: Shard) -> bool:
            self.count += 1
            return hand_back(shard)

        monkeypatch.setattr(Shard, "hand_back", counted)


def somebody(does: Callable[[HeldStep], None]) -> Thread:
    """Decides on what is held as soon as it is."""

    def look() -> None:
        for _ in range(600):
            if (row := HeldStep.objects.waiting().first()) is not None:
                does(row)
                break
            time.sleep(0.05)
        connection.close()

    thread = Thread(target=look)
    thread.start()
    return thread


@pytest.fixture
def played(miniwob, monkeypatch) -> Callable[..., list[TrajectoryStep]]:
    """`played(seconds, does)`: the steps of one episode whose first action is held."""

    def play(seconds: str, does: Callable[[HeldStep], None] | None = None) -> list[TrajectoryStep]:
        goals = new_goals(factories.make_project(), "goals", "miniwob", steps=4)
        LiveGoals(goals, miniwob).add(["click-test"], range(1))
        play_oracles(monkeypatch, RiskyOracle())
        settings = {"act.guard": "policy", "act.guard_seconds": seconds}
        study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False, overrides=settings)
        thread = somebody(does) if does else None
        run_inline(study)
        if thread:
            thread.join()
        return list(TrajectoryStep.objects.filter(run__studies=study).order_by("seq"))

    return play


@pytest.mark.slow
def test_an_approved_action_is_carried_out(played) -> None:
    steps = played("60", lambda row: row.decide(factories.make_user(username="ada"), "approved"))
    assert [(step.operation, step.reward) for step in steps] == [("CLICK", 1.0)]
    assert steps[0].trace["act"]["decided"] == "held, approved by ada"


@pytest.mark.slow
def test_an_approved_action_whose_element_is_another_by_then_is_not_carried_out(played, monkeypatch) -> None:
    taken: list[KeptBrowser] = []

    def take(name: str) -> KeptBrowser:
        taken.append(KeptBrowser.take(name))
        return taken[-1]

    def change_page_and_approve(row: HeldStep) -> None:
        taken[-1].reset("click-button", 1)  # as a page does that goes on while it is looked at
        row.decide(factories.make_user(username="ada"), "approved")

    monkeypatch.setattr(live_running, "EnvironmentProcess", take)
    first = played("60", change_page_and_approve)[0]
    assert first.reward == 0.0
    assert first.outcome.startswith("held, approved by ada; not done: ")
    assert "Click Me!" in first.outcome


@pytest.mark.slow
def test_a_changed_action_is_carried_out_in_its_place(played) -> None:
    def change(row: HeldStep) -> None:
        assert row.snapshot is not None
        row.decide(factories.make_user(username="ada"), "changed", instead=row.action | {"operation": "HOVER"})

    steps = played("60", change)
    assert [(step.operation, step.reward) for step in steps] == [("HOVER", 0.0), ("CLICK", 1.0)]


@pytest.mark.slow
def test_a_changed_action_is_the_step_of_who_changed_it(played) -> None:
    def change(row: HeldStep) -> None:
        row.decide(factories.make_user(username="ada"), "changed", instead=row.action | {"operation": "HOVER"})

    steps = played("60", change)
    assert [str(step.done_by) for step in steps] == ["ada", "None"]
    told = steps[0].trace["act"]
    assert told["representation"] == "[button]  Click Me! -> HOVER"
    assert [one["representation"] for one in told["proposed"]] == ["[button]  Click Me! -> CLICK"]
    assert {score.value for score in Score.objects.filter(metric="human_share")} == {0.5}
    assert Conversation.objects.get(dataset__name="goals-shown").extra["people"] == ["ada"]


@pytest.mark.slow
def test_a_refused_action_ends_the_episode(played) -> None:
    steps = played("60", lambda row: row.decide(factories.make_user(username="ada"), "refused", "No."))
    assert [(step.outcome, step.reward) for step in steps] == [("held, refused by ada: No.", 0.0)]


@pytest.mark.slow
def test_who_waits_for_people_lets_others_have_the_worker_and_loses_nothing(played, monkeypatch) -> None:
    monkeypatch.setattr(patience, "WAITING_SECONDS", 0.0)
    slices = Counted(monkeypatch)

    def approve_later(row: HeldStep) -> None:
        while slices.count < 3:
            time.sleep(0.05)
        row.decide(factories.make_user(username="ada"), "approved")

    steps = played("60", approve_later)
    assert [(step.operation, step.reward) for step in steps] == [("CLICK", 1.0)]
    assert [row.state for row in HeldStep.objects.all()] == ["approved"], "the episode did not begin anew"


@pytest.mark.slow
def test_a_worker_that_stops_withdraws_what_it_holds(played, monkeypatch) -> None:
    monkeypatch.setattr(patience, "WAITING_SECONDS", 0.0)
    monkeypatch.setattr(
        stopping, "asked", lambda: HeldStep.objects.waiting().exists() and HeldStep.objects.count() == 1
    )
    assert [step.outcome for step in played("1")] == ["held, nobody decided in time"]
    assert [row.state for row in HeldStep.objects.order_by("pk")] == ["withdrawn", "expired"]


@pytest.mark.slow
def test_what_nobody_decides_ends_the_episode(played) -> None:
    assert [(step.outcome, step.reward) for step in played("1")] == [("held, nobody decided in time", 0.0)]
    assert not HeldStep.objects.waiting().exists()
