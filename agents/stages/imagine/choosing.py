"""The base of the kinds of `imagine`, and the kind that takes the most frequent of the planner's samples (WMA;
sources.md B3). Core."""

from collections.abc import Sequence
from typing import ClassVar

from agents.recipes.literature import Recipe
from agents.stages.imagine.scores import Frequent, frequent
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.state import StepState
from agents.types import Action, Branch
from agents.words.action_text import told

Drawn = tuple[Action | None, ...]


class Choosing(StageKind):
    """The base of kinds of `imagine`, which compare several actions that the planner drew."""

    stage = "imagine"
    reads = frozenset({"quirks.unread_samples_compete"})
    tells_outcomes: ClassVar[bool] = True  # of each action it says what is expected, which can come true or not

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        if self.recipe.plan.samples < 2 or not self.recipe.plan.temperature:
            raise CannotRun(
                f"imagine.kind={self.recipe.imagine.kind} compares samples: set plan.samples of at least 2 and "
                "plan.temperature above 0"
            )

    def drawn(self, state: StepState) -> Drawn:
        """The actions that are compared. In the published code a reply without an action is compared too, and may
        win."""
        if self.recipe.quirks.unread_samples_compete:
            return state.drawn
        return tuple(action for action in state.drawn if action is not None)

    def compared(self, state: StepState, k: int) -> Frequent:
        """The k most frequent actions with their shares of the samples, or a planner's k best with their
        probabilities."""
        if state.shares:
            return Frequent(state.drawn[:k], state.shares[:k])
        return frequent(self.drawn(state), k)

    def note(self, state: StepState, found: Frequent) -> None:
        drawn = self.drawn(state)
        counts = {} if state.shares else {"counts": [drawn.count(action) for action in found.choices]}
        state.note("imagine", kind=self.recipe.imagine.kind, samples=len(state.drawn), **counts)

    def branch(self, state: StepState, action: Action | None, **found: object) -> Branch:
        words = told(action, state.ranking) if action else "no action"
        return Branch(action or Action(""), words, **found)  # type: ignore[arg-type]


class MostFrequent(Choosing):
    """The most frequent action; of equally frequent ones that which was drawn first."""

    counts_equals = True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Of {recipe.plan.samples} sampled actions the most frequent one is taken."

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            drawn = self.drawn(state)
            if state.error or not drawn:
                continue
            found = self.compared(state, len(set(drawn)))
            counts = [drawn.count(action) for action in found.choices]
            self.note(state, found)
            state.close(found.choices[0])
            state.branches = tuple(
                self.branch(state, action, prediction=f"{count} of {len(drawn)} samples", chosen=not place)
                for place, (action, count) in enumerate(zip(found.choices, counts, strict=True))
            )
