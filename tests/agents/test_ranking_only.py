"""Recipes that only rank: the best element is the decision, and a turn without elements is no error by itself."""

import random

from agents.policy import FirstPlanner
from agents.stages.plan.prepared import Planned, Prepared
from agents.types import Action, RankedCandidate
from tests.agents.test_policy import observation
from tests.agents.weblinx_demo import browser, chat, make_demo


def plan(*ranking: RankedCandidate, **fields: object) -> Planned:
    seen = observation(**fields)
    (planned,) = FirstPlanner().plan([Prepared(seen, ranking, random.Random(0), seen.instruction)])
    return planned


def test_the_best_element_is_chosen_without_an_operation() -> None:
    planned = plan(RankedCandidate("5", 0.9, 0, ""), RankedCandidate("11", 0.1, 1, ""))
    assert (planned.action, planned.error) == (Action("", "5"), "")


def test_a_page_without_elements_is_an_error() -> None:
    demo = make_demo(chat("instructor", "Find it."), browser("click", "go", 3.0))
    for planned in (plan(), plan(demo=demo, demo_turn=1)):
        assert (planned.action, planned.error) == (None, "the page has no element to choose from")


def test_an_utterance_before_the_first_page_is_no_error() -> None:
    demo = make_demo(chat("instructor", "Find it."), chat("navigator", "Gladly.", 1.0), browser("click", "go", 3.0))
    planned = plan(demo=demo, demo_turn=1)
    assert (planned.action, planned.error) == (None, "")
