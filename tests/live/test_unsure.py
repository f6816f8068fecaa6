"""An agent that somebody talks with stops where it would guess, and where it would do what it has done already."""

from dataclasses import replace
from math import log

import pytest

from agents.environments.protocol import PageView
from agents.live.under_way import LiveEpisode
from agents.live.unsure import stopped
from agents.models import Drive
from agents.recipes import literature
from agents.types import Action, Decision, RankedCandidate
from annotations.models import Role
from evaluation.studies.taking_part.talking import talk
from tests import factories

pytestmark = pytest.mark.django_db
CLICK = Action("CLICK", "7")
TRAINED = literature.override(literature.get("grounded"), {"plan.model": "own"})


@pytest.fixture
def episode(db) -> LiveEpisode:
    project = factories.make_project(slug="talked")
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    row = talk(ada, project, "grounded", "nordline", "Wave.").trajectory
    made = LiveEpisode(row, list(row.conversation.turns.all()))
    made.look(PageView("<html></html>", "https://nordline.example/", 1, {"7": "[button]  Next"}))
    return made


def decided(share: float, action: Action = CLICK, second: float = 0.01) -> Decision:
    ranking = (RankedCandidate("7", log(share), 0, "button Next"), RankedCandidate("9", log(second), 1, "link Back"))
    return Decision(
        (action,), ranking, trace={"act": {"representation": "button Next → CLICK", "held": {"kind": "pay"}}}
    )


def said(decision: Decision) -> tuple[str, str]:
    return decision.actions[0].operation, decision.trace["act"].get("stopped", "")


def test_a_guess_of_a_trained_planner_is_not_done_and_says_what_it_would_be(episode: LiveEpisode) -> None:
    assert stopped(TRAINED, episode, decided(0.6)) == decided(0.6)
    found = stopped(TRAINED, episode, decided(0.3))
    assert said(found) == (
        "STOP",
        "Nothing is clearly next: it would do “button Next → CLICK”, and trusts that with 30% alone.",
    )
    assert "held" not in found.trace["act"], "nothing is held that is not done"
    assert stopped(literature.get("grounded"), episode, decided(0.3)) == decided(0.3), "untrained, it trusts nothing"


def test_once_something_is_done_more_trust_is_needed_but_for_two_that_are_left(episode: LiveEpisode) -> None:
    episode.did(episode.observation(), replace(CLICK, node_id="8"), {})
    assert said(stopped(TRAINED, episode, decided(0.86)))[0] == "CLICK"
    assert said(stopped(TRAINED, episode, decided(0.84, second=0.1)))[0] == "STOP", "the turn may be done"
    assert said(stopped(TRAINED, episode, decided(0.51, second=0.48)))[0] == "CLICK", "both are asked for"
    assert said(stopped(TRAINED, episode, decided(0.48, second=0.5)))[0] == "STOP"
    assert said(stopped(literature.get("grounded"), episode, decided(0.6)))[0] == "CLICK", (
        "untrained, it trusts nothing"
    )


def test_the_same_is_not_done_twice_in_a_turn(episode: LiveEpisode) -> None:
    assert said(stopped(TRAINED, episode, decided(0.9)))[0] == "CLICK"
    episode.did(episode.observation(), CLICK, {})
    episode.did(episode.observation(), replace(CLICK, node_id="8"), {})
    for recipe in (TRAINED, literature.get("grounded")):
        found = stopped(recipe, episode, decided(0.9))
        assert said(found) == ("STOP", "It would do “button Next → CLICK” again.")
    assert said(stopped(TRAINED, episode, decided(0.9, replace(CLICK, node_id="9"))))[0] == "CLICK"
    episode.steps = []
    assert said(stopped(TRAINED, episode, decided(0.9)))[0] == "CLICK", "in another turn it may"


def test_questions_other_users_and_people_who_look_on_are_left_alone(episode: LiveEpisode) -> None:
    asks = decided(0.3, Action("SAY", None, "Which one?"))
    assert stopped(TRAINED, episode, asks) == asks
    episode.drive = Drive()
    assert stopped(TRAINED, episode, decided(0.3)) == decided(0.3), "it is shown as what it would do"
    episode.drive, episode.trajectory.conversation.extra = None, {"task": "nordline", "seed": 0}
    assert stopped(TRAINED, episode, decided(0.3)) == decided(0.3), "a scripted user says when a turn is over"
