"""Recipes that only rank: the best element is the decision, and a turn without elements is no error by itself."""

from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.types import Action, Decision, RankedCandidate
from tests.agents.fixed_ranker import FixedRanker
from tests.agents.test_policy import observation
from tests.agents.weblinx_demo import browser, chat, make_demo


def decide(*ranking: RankedCandidate, **fields: object) -> Decision:
    parts = Parts(literature.get("deberta"), ranker=FixedRanker(*ranking))
    (decision,) = Pipeline.of(parts).decide([observation(**fields)])
    return decision


def error(decision: Decision) -> str:
    return decision.error


def test_the_best_element_is_chosen_without_an_operation() -> None:
    decision = decide(RankedCandidate("5", 0.9, 0, ""), RankedCandidate("11", 0.1, 1, ""))
    assert (decision.actions, error(decision)) == ((Action("", "5"),), "")


def test_a_page_without_elements_is_an_error() -> None:
    demo = make_demo(chat("instructor", "Find it."), browser("click", "go", 3.0))
    for decision in (decide(), decide(demo=demo, demo_turn=1)):
        assert (decision.actions, error(decision)) == ((), "the page has no element to choose from")


def test_an_utterance_before_the_first_page_is_no_error() -> None:
    demo = make_demo(chat("instructor", "Find it."), chat("navigator", "Gladly.", 1.0), browser("click", "go", 3.0))
    decision = decide(demo=demo, demo_turn=1)
    assert (decision.actions, error(decision)) == ((), "")
