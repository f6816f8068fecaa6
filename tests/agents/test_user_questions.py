"""An agent asks where it cannot tell what is meant, and only there."""

from collections.abc import Sequence

import pytest

from agents.cookbook import checking
from agents.recipes import literature
from agents.stages.act.user_questions import AskedWhereClose
from agents.stages.kind import Parts
from agents.stages.registry import recipe_kinds
from agents.stages.state import StepState
from agents.types import Action, Observation, PastAction, RankedCandidate

SETTINGS = {"act.ask": "close", "plan.samples": "3", "plan.temperature": "0.03"}
RECIPE = checking.vary(literature.get("grounded"), SETTINGS)
NAMES = {
    "1": "link Lisbon to Porto",
    "2": "link Lisbon to Faro",
    "3": "link Lisbon to Porto",
    "4": "textbox Destination",
}


def decided(actions: Sequence[Action], shares: Sequence[float], asked: Sequence[str] = ()) -> Action | None:
    """What becomes of the first of these actions, of which the planner is so sure."""
    past = tuple(PastAction(f"[page]  -> SAY: {said}", "SAY", None, said) for said in asked)
    state = StepState.of(Observation(1, 1, 0, len(past), "rail", "", "", "Go.", "<html/>", turn_actions=past), 0)
    state.ranking = tuple(RankedCandidate(node, 1.0, rank, text) for rank, (node, text) in enumerate(NAMES.items()))
    state.drawn, state.shares = tuple(actions), tuple(shares)
    state.close(actions[0])
    AskedWhereClose(Parts(RECIPE)).run([state])
    return state.action


def click(node: str) -> Action:
    return Action("CLICK", node)


def test_two_close_readings_become_a_question_that_names_both() -> None:
    found = decided([click("1"), click("2")], [0.41, 0.40])
    assert found == Action("SAY", value="Which one do you mean: link Lisbon to Porto or link Lisbon to Faro?")


@pytest.mark.parametrize(
    ("actions", "shares"),
    [
        ([click("1"), click("2")], [0.6, 0.3]),  # it knows
        ([click("1"), click("3")], [0.41, 0.40]),  # both are called the same
        ([click("1")], [1.0]),  # there is nothing else
    ],
)
def test_what_is_clear_is_done(actions: Sequence[Action], shares: Sequence[float]) -> None:
    assert decided(actions, shares) == actions[0]


def test_what_is_called_the_same_counts_together() -> None:
    shares = [0.30, 0.29, 0.28]
    assert decided([click("1"), click("2"), click("3")], shares) == click("1"), "0.58 against 0.29"


def test_a_field_for_which_nothing_is_said_is_asked_about() -> None:
    found = decided([Action("TYPE", "4", "")], [1.0])
    assert found == Action("SAY", value="What should I enter for textbox Destination?")
    assert decided([Action("TYPE", "4", "Faro")], [1.0]) == Action("TYPE", "4", "Faro")


def test_nothing_is_asked_twice_and_two_things_at_most() -> None:
    unclear = ([click("1"), click("2")], [0.41, 0.40])
    question = decided(*unclear)
    assert question is not None
    assert decided(*unclear, [question.value]) == click("1")
    assert decided(*unclear, ["Who?"]) == question
    assert decided(*unclear, ["Who?", "When?"]) == click("1")


def test_one_who_asks_needs_readings_to_compare() -> None:
    with pytest.raises(ValueError, match=r"act\.ask=close compares samples: set plan\.samples"):
        checking.vary(literature.get("grounded"), {"act.ask": "close"})
    with pytest.raises(ValueError, match=r"act\.ask_ratio would change nothing"):
        checking.vary(literature.get("grounded"), {"act.ask_ratio": "0.5"})
    assert AskedWhereClose in recipe_kinds(RECIPE)


def test_a_setting_that_came_later_leaves_recipes_what_they_were() -> None:
    grounded = literature.get("grounded")
    assert "ask" not in literature.to_dict(grounded)["act"]
    assert literature.to_dict(RECIPE)["act"]["ask"] == "close"
    assert literature.sha256(literature.from_dict(literature.to_dict(RECIPE))) == literature.sha256(RECIPE)
