"""`plan.kind=grounded`: act on the best element; the operation follows from it, the value is copied. Core."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from agents.stages.models import lacking_model
from agents.stages.plan.grounded import plan
from agents.stages.plan.kinds import Planning
from agents.stages.rank.learned import LearnedElements
from agents.stages.state import StepState
from agents.types import Action
from annotations.dom.elements import Element

if TYPE_CHECKING:
    from agents.stages.plan.learned.model import LearnedPrediction

SOURCES = {
    "quote": "a quoted part of the instruction",
    "words": "words of the instruction",
    "date": "a date in the instruction",
    "time": "a time in the instruction",
    "range": "a number of the range in the instruction",
    "earlier": "a value of an earlier instruction",
    "page": "a text of the page",
    "option": "an option of the list",
    "key": "a key",
}


class FollowingElement(Planning):
    """Untrained: rules on the element and the words of instruction and recalled snippets. With `plan.model` a network
    that has ranked the elements knows operation and value as well."""

    needs_ranking = False  # says itself which it takes
    reads = frozenset({"plan.model"})
    takes = frozenset({"snippets"})

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        said = "The operation follows from the element's role, the value is copied from the instruction."
        return f"{said} {recipe.plan.model} learned both." if recipe.plan.model else said

    @classmethod
    def ranking(cls, recipe: Recipe) -> type[StageKind] | None:
        return LearnedElements if recipe.plan.model else None

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "grounded", {}

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        """A setting that it would overlook must not look as if it counted."""
        recall = recipe.recall
        lacking = [] if recipe.rank.kind == "dual_encoder" else ["rank.kind=dual_encoder"]
        if recall.memory not in ("none", "multifaceted"):
            lacking.append("recall.memory=none or multifaceted")
        if recall.exemplars != "none" or recall.workflows != "none":
            lacking.append("recall.exemplars=none and recall.workflows=none: its planner reads no prompt")
        return lacking + (
            lacking_model("plan.model", recipe.plan.model, "", "train_planner") if recipe.plan.model else []
        )

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            action, why = self._predicted(state) if self.recipe.plan.model else self._followed(state)
            state.note("simplify", kept=min(self.recipe.rank.top_k, len(state.ranking)))
            state.note("plan", why=why)
            state.close(action)

    def _followed(self, state: StepState) -> tuple[Action, dict[str, str]]:
        best: Element = state.best
        recalled = [snippet.instruction for snippet in state.snippets]
        recalled += reversed(state.observation.earlier_instructions)
        chosen = plan(best, state.observation, self.parts.the_encoder(), list(dict.fromkeys(recalled)))
        return chosen.action, chosen.why

    def _predicted(self, state: StepState) -> tuple[Action, dict[str, str]]:
        prediction: LearnedPrediction = state.best
        return Action(prediction.operation, state.ranking[0].node_id, prediction.value), _why(prediction)


def _why(prediction: "LearnedPrediction") -> dict[str, str]:
    """The reasons in words, with what the networks made of the alternatives."""
    share = float(np.exp(prediction.scores.max()))
    why = {
        "element": f"{share:.0%} of the trust of {len(prediction.scores)} candidates",
        "operation": f"{prediction.operation} with {prediction.operation_share:.0%}",
    }
    if prediction.value_source:
        why["value"] = f"{SOURCES[prediction.value_source]} with {prediction.value_share:.0%}"
    return why
