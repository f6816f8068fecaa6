"""`plan.kind=grounded`: act on the best element; the operation follows from it, the value is copied. Core."""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind, unless
from agents.stages.models import lacking_model
from agents.stages.plan.grounded import plan, plan_all
from agents.stages.plan.kinds import Planning
from agents.stages.rank.learned import LearnedElements
from agents.stages.state import StepState
from agents.types import Action

if TYPE_CHECKING:
    from agents.learned.model import LearnedPrediction

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
    "habit": "what was typed in training though nothing says it",
    "held": "what another field holds",
    "nth": "the word of the page at the place in the instruction",
    "result": "what a sum on the page comes to",
    "joined": "letters that stand apart on the page",
    "presses": "a key, as often as a number is away from the one in the instruction",
}


class FollowingElement(Planning):
    """Acts on the best element by rules on the element and on the words of the instruction and of recalled snippets,
    without training. With `plan.model`, a trained network that has ranked the elements gives operation and value
    too."""

    needs_ranking = False  # which rankings go with it is checked by `rankings_wanted`
    takes_told = takes_best = True
    draws, repeats = True, False
    reads = frozenset({"rank.top_k", "plan.model", "plan.samples", "plan.temperature"})
    takes = frozenset({"snippets"})

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        said = "The operation follows from the element's role, the value is copied from the instruction."
        if recipe.plan.samples > 1:
            said += f" Its {recipe.plan.samples} best elements are told, each with its action."
        return f"{said} {recipe.plan.model} learned both." if recipe.plan.model else said

    @classmethod
    def scores_by_shares(cls, recipe: Recipe) -> bool:
        return bool(recipe.plan.model)

    @classmethod
    def ranking(cls, recipe: Recipe) -> type[StageKind] | None:
        return LearnedElements if recipe.plan.model else None

    @classmethod
    def overrules(cls, recipe: Recipe) -> dict[str, str]:
        untrained = "an empty plan.model: a trained planner of plan.kind=grounded ranks by itself"
        return super().overrules(recipe) | unless(not recipe.plan.model, untrained, "rank.kind")

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "grounded", {}

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return lacking_model("plan.model", recipe.plan.model, "", "train_planner") if recipe.plan.model else []

    def run(self, states: Sequence[StepState]) -> None:
        found_for = [self._predicted(state) for state in states] if self.recipe.plan.model else self._followed(states)
        for state, found in zip(states, found_for, strict=True):
            if not found:  # a WebLINX turn before the first page
                state.close(None)
                continue
            action, why = found[0]
            state.note("plan", kept=len(found), why=why)
            if self.recipe.plan.temperature and len(found) > 1:
                state.drawn, state.shares = tuple(action for action, _ in found), self._shares(state)
                state.note("plan", shares=[round(share, 4) for share in state.shares])
            state.close(action)

    def _shares(self, state: StepState) -> tuple[float, ...]:
        """The probability of each of the best actions: the softmax of all elements' scores over the temperature; with a
        trained network, times the probability of operation and value. They sum to 1 only over all actions."""
        scores = np.array([candidate.score for candidate in state.ranking]) / self.recipe.plan.temperature
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        if not self.recipe.plan.model:
            return tuple(shares[: len(state.best)].tolist())
        known: tuple[LearnedPrediction, ...] = state.best
        return tuple(float(share) * one.beside_share for share, one in zip(shares, known, strict=False))

    def _followed(self, states: Sequence[StepState]) -> list[list[tuple[Action, dict[str, str]]]]:
        """For each state the action on each of its best elements, with the reasons, the best first."""
        begun = [plan(element, state.observation, _sources(state)) for state in states for element in state.best]
        made = iter(plan_all(begun, self.parts.the_encoder()))
        return [[(one.action, one.why) for one in islice(made, len(state.best))] for state in states]

    def _predicted(self, state: StepState) -> list[tuple[Action, dict[str, str]]]:
        best: tuple[LearnedPrediction, ...] = state.best
        return [
            (Action(one.operation, candidate.node_id, one.value), _why(one))
            for one, candidate in zip(best, state.ranking, strict=False)
        ]


def _sources(state: StepState) -> list[str]:
    """The texts in which a value is looked for: recalled instructions, then the earlier ones, the last first."""
    recalled = [snippet.instruction for snippet in state.snippets]
    return list(dict.fromkeys([*recalled, *reversed(state.observation.earlier_instructions)]))


def _why(prediction: "LearnedPrediction") -> dict[str, str]:
    """The reasons of a prediction in words: how probable its element, operation and value were."""
    share = float(np.exp(prediction.scores.max()))
    why = {
        "element": f"{share:.0%} of the trust of {len(prediction.scores)} candidates",
        "operation": f"{prediction.operation} with {prediction.operation_share:.0%}",
    }
    if prediction.value_source:
        why["value"] = f"{SOURCES[prediction.value_source]} with {prediction.value_share:.0%}"
    return why
