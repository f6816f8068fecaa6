"""`imagine.kind`: among the planner's samples the most frequent action, or the one that a world model and a value
function find best (WMA; dmr_wma.md B3). Core."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents.recipes.literature import Recipe
from agents.stages.act.done import told
from agents.stages.imagine.asking import NOTHING_DONE, Asking, described, previous
from agents.stages.imagine.scores import READINGS, Frequent, Valuation, frequent, next_state
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.state import StepState
from agents.types import Action, Branch

Drawn = tuple[Action | None, ...]
NO_SCORE = Valuation(None, ())
UNREAD = "the world model's answer could not be read"


class Choosing(StageKind):
    """A kind of `imagine`: needs a planner that draws several actions."""

    stage = "imagine"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        if self.recipe.plan.samples < 2 or not self.recipe.plan.temperature:
            raise CannotRun(
                f"imagine.kind={self.recipe.imagine.kind} compares samples: set plan.samples of at least 2 and "
                "plan.temperature above 0"
            )

    def drawn(self, state: StepState) -> Drawn:
        """The actions that compete. In published code a reply without one competes too, and may win."""
        if self.recipe.quirks.unread_samples_compete:
            return state.drawn
        return tuple(action for action in state.drawn if action is not None)

    def compared(self, state: StepState, k: int) -> Frequent:
        """The k most frequent actions with their shares of the samples, or a planner's k best with their
        probabilities."""
        if state.shares:
            return Frequent(state.drawn[:k], state.shares[:k])
        return frequent(self.drawn(state), k)

    def note(self, state: StepState, kind: str, found: Frequent) -> None:
        drawn = self.drawn(state)
        counts = {} if state.shares else {"counts": [drawn.count(action) for action in found.choices]}
        state.note("imagine", kind=kind, samples=len(state.drawn), **counts)

    def branch(self, state: StepState, action: Action | None, **found: object) -> Branch:
        words = told(action, state.ranking) if action else "no action"
        return Branch(action or Action(""), words, **found)  # type: ignore[arg-type]


class MostFrequent(Choosing):
    """The most frequent action; of equally frequent ones that which was drawn first."""

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            drawn = self.drawn(state)
            if state.error or not drawn:
                continue
            found = self.compared(state, len(set(drawn)))
            counts = [drawn.count(action) for action in found.choices]
            self.note(state, "majority", found)
            state.close(found.choices[0])
            state.branches = tuple(
                self.branch(state, action, prediction=f"{count} of {len(drawn)} samples", chosen=not place)
                for place, (action, count) in enumerate(zip(found.choices, counts, strict=True))
            )


@dataclass
class Considered:
    """An action on its way through the stage."""

    state: StepState
    action: Action | None
    page: str
    words: str  # the action as it is asked about
    expected: str = ""  # what is expected of it, and of the imagined actions after it
    done: str = ""
    next_action: str = ""
    is_unread: bool = False  # an answer of the world model said no outcome
    score: Valuation = NO_SCORE

    @property
    def rating(self) -> float:
        """Its value; one that nobody could read is below all others."""
        return -math.inf if self.score.mean is None else self.score.mean

    def filled(self, **more: str) -> dict[str, str]:
        return {"objective": self.state.instruction, "previous": previous(self.state)} | more


class WorldModel(Choosing):
    """Each of the most frequent actions is imagined, valued with several samples, and the best one taken; the more
    frequent one of equals."""

    reads = frozenset(
        f"imagine.{name}"
        for name in (
            *("samples", "value_samples", "depth", "model", "temperature", "top_p", "max_new_tokens", "page_tokens"),
        )
    ) | {"prompts.pack"}

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.asking = Asking(parts)

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        """Of a planner that asks nothing it takes the actions, not the model."""
        return recipe.plan.backend == "endpoint" or recipe.plan.kind == "grounded"

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"world_model", "value"} | ({"imagined_action"} if recipe.imagine.depth > 1 else set()))

    def run(self, states: Sequence[StepState]) -> None:
        asking = [(state, self._compared(state)) for state in states if not state.error and self.drawn(state)]
        considered = [one for _, found in asking if len(found) > 1 for one in found]
        for level in range(self.recipe.imagine.depth):
            if level:
                self._go_on(considered)
            self._imagine(considered)
        self._value(considered)
        for state, found in asking:
            self._take(state, found)

    def _compared(self, state: StepState) -> list[Considered]:
        drawn, quirks = self.drawn(state), self.recipe.quirks
        k = len(drawn) if quirks.wq22_imagines_every_sample else self.recipe.imagine.samples
        found = self.compared(state, k)
        page = self.asking.page(state) if len(found.choices) > 1 else ""  # one alone is not imagined
        words = [described(action, page) if action else "None" for action in found.choices]
        self.note(state, "world_model", found)
        return [Considered(state, action, page, said) for action, said in zip(found.choices, words, strict=True)]

    def _imagine(self, considered: Sequence[Considered]) -> None:
        asked = [
            (
                one.state,
                one.filled(observation=one.expected or one.page, action=one.next_action or one.words)
                | ({"previous": one.done} if one.done else {}),
            )
            for one in considered
        ]
        for one, answer in zip(considered, self.asking.answers("world_model", asked), strict=True):
            predicted = next_state(answer.text).text
            one.is_unread |= not predicted
            one.expected = "\n".join(part for part in (one.expected, one.next_action, predicted) if part)

    def _go_on(self, considered: Sequence[Considered]) -> None:
        """What would be done next on the page that was imagined."""
        for one in considered:
            so_far = [one.done or previous(one.state), one.next_action or one.words]
            one.done = "\n".join(line for line in so_far if line != NOTHING_DONE)
        asked = [(one.state, one.filled(observation=one.expected) | {"previous": one.done}) for one in considered]
        for one, answer in zip(considered, self.asking.answers("imagined_action", asked), strict=True):
            one.next_action = answer.text.strip()

    def _value(self, considered: Sequence[Considered]) -> None:
        asked = [
            (one.state, one.filled(observation=one.page, action=one.words, next_state=one.expected))
            for one in considered
        ]
        read, samples = READINGS[self.recipe.preset], self.recipe.imagine.value_samples
        for one, answer in zip(considered, self.asking.answers("value", asked, samples), strict=True):
            one.score = read(answer.texts)

    def _take(self, state: StepState, found: Sequence[Considered]) -> None:
        best = max(range(len(found)), key=lambda place: found[place].rating)
        taken = found[best].action
        if self.recipe.quirks.wq23_takes_sample_of_that_place:
            taken = state.drawn[best]
        valued = len(found) > 1
        state.note("imagine", scores=[list(one.score.each) for one in found] if valued else [])
        if unread := sum(one.is_unread for one in found):
            state.note("imagine", unread=unread)
        state.close(taken)
        state.branches = tuple(
            self.branch(
                state,
                one.action,
                prediction=(one.expected or UNREAD) if valued else "the only action drawn",
                value=one.score.mean if valued else None,
                chosen=one.action == taken,
            )
            for one in found
        )
