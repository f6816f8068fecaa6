"""What past transitions say decides among a planner's best actions; no model is asked."""

from dataclasses import dataclass

import pytest

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import CannotRun, Parts
from agents.types import Decision
from agents.world_model.calibration import Calibration
from agents.world_model.effects import Effect
from agents.world_model.predicting import PastCase, RetrievedEffects
from agents.world_model.valuing import NAMES, EmbeddedValue, fitted_value
from tests.agents.test_policy import ListMemory, observation


@dataclass
class Known:
    """Clicks on links have opened something, other actions have done nothing."""

    worth: EmbeddedValue
    prepared: int = 0

    def prepare(self) -> None:
        self.prepared += 1

    def similar(self, situations, k):
        opened = (Effect("added", "dialog", "About"),)
        return [[_case(one.target.role, opened if one.target.role == "link" else ())] for one in situations]

    def world_model(self) -> RetrievedEffects:
        return RetrievedEffects(self)

    def value(self) -> EmbeddedValue:
        return self.worth


def _case(role: str, effects: tuple[Effect, ...]) -> PastCase:
    return PastCase(7, "CLICK", role, "", "boats", effects, 0.9)


class PreparedMemory(ListMemory):
    def prepare_snippets(self, conversation_ids) -> None:
        """There is nothing to embed."""


def decided(known: Known | None, **changes: str) -> Decision:
    changes = {name.replace("__", "."): value for name, value in changes.items()}
    recipe = literature.override(literature.get("grounded-world-model"), changes)
    parts = Parts(recipe, memory=PreparedMemory(), encoder=CachedEncoder(HashEncoder()), remembered=known)
    pipeline = Pipeline.of(parts)
    pipeline.prepare([])
    (decision,) = pipeline.decide([observation("Show the Imprint, or reserve it.")])
    return decision


@dataclass
class Opening(Known):
    """Clicks on the link have opened a button by the words of the instruction, and clicks on that have closed it."""

    def similar(self, situations, k):
        return [[_case(one.target.role, OPENED.get(one.target.name, ()))] for one in situations]


OPENED = {
    "Imprint": (Effect("added", "button", "Show the Imprint, or reserve it"), Effect("removed", "button", "Reserve")),
    "Show the Imprint, or reserve it": (Effect("removed", "button", of="target"), Effect("added", "status", "Thanks")),
}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_the_planner_would_do_on_the_imagined_page_is_imagined_too(depth):
    known = Opening(CHANGING)
    decision = decided(known, imagine__share_weight="0", imagine__depth=str(depth))
    opened = next(branch for branch in decision.branches if branch.action.node_id == "13")
    assert opened.prediction == "added button 'Show the Imprint, or reserve it'\nremoved button 'Reserve'"
    assert [len(branch.further) for branch in decision.branches] == [depth - 1] * 5
    if depth > 1:
        (then, *_) = opened.further
        assert then.representation.endswith("Show the Imprint, or reserve it → CLICK")
        assert then.prediction == "removed button 'Show the Imprint, or reserve it'\nadded status 'Thanks'"
    assert not any("imagined" in (branch.action.node_id or "") for branch in decision.branches)
    assert decision.actions[0] in {branch.action for branch in decision.branches}, "what is not there is never done"


def test_each_further_action_is_less_sure():
    decision = decided(Sure(CHANGING), imagine__depth="3")
    for branch in decision.branches:
        assert [one.confidence for one in branch.further] == pytest.approx([0.25, 0.125])
    assert decision.trace["imagine"]["confidences"] == [0.5] * 5


@dataclass
class Sure(Known):
    """Half of what it says comes true."""

    def world_model(self) -> RetrievedEffects:
        return RetrievedEffects(self, HALF, HALF)


HALF = Calibration((0.0, 1.0), (0.5, 0.5))
CHANGING = EmbeddedValue(tuple(9.0 if name == "changes" else 0.0 for name in NAMES), -4.0)


def test_the_action_that_changes_something_is_taken_and_all_are_told():
    known = Known(CHANGING)
    decision = decided(known, imagine__share_weight="0")
    assert decision.actions[0].node_id == "13", "the only link"
    taken = next(branch for branch in decision.branches if branch.chosen)
    assert (taken.prediction, len(decision.branches)) == ("added dialog 'About'", 5)
    assert taken.value == pytest.approx(0.9933, abs=1e-4)
    others = {branch.prediction for branch in decision.branches if not branch.chosen}
    assert others == {"The page is expected to stay as it is."}
    assert (decision.usage.calls, known.prepared > 0) == (0, True)
    noted = decision.trace["imagine"]
    assert noted["kind"] == "retrieval"
    assert len(noted["confidences"]) == 5
    assert noted["cases"][0] == [7]


def test_where_all_is_worth_the_same_the_planner_has_the_last_word():
    plain = decided(Known(EmbeddedValue()))
    assert plain.actions == decided(Known(EmbeddedValue()), imagine__kind="none").actions
    assert len(plain.trace["imagine"]["ratings"]) == 5


def test_without_transitions_it_cannot_run():
    with pytest.raises(CannotRun, match="none were given"):
        decided(None)


def test_a_fitted_value_prefers_what_was_right():
    rows = [[1.0, 0.9, 0.8, 0.5, 0.5, 0.0], [0.0, 0.3, 0.2, 0.0, 0.0, 0.0]] * 10
    found = fitted_value(rows, [True, False] * 10)
    assert len(found.weights) == len(NAMES)
    assert found.weights[0] > 0
    assert fitted_value(rows, [True] * 20) == EmbeddedValue()
