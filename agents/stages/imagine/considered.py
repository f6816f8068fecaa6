"""An action that the stage `imagine` compares with others: what is expected of it, and what that is worth. Core."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.stages.imagine.model_questions import previous
from agents.stages.imagine.scores import Valuation
from agents.stages.state import StepState
from agents.types import Action, ImaginedStep
from agents.world_model.predicting import Prediction, Situation

NO_SCORE = Valuation(None, ())


@dataclass
class Considered:
    """One of the actions that are compared at a step."""

    state: StepState
    action: Action | None
    share: float  # how probable the planner finds it
    tree: str  # the page as an accessibility tree
    words: str  # the action as it is asked about
    page: str = ""  # the tree as far as there is room for it in a prompt
    place: int = 0  # among the actions of its step
    expected: str | None = None  # what it and imagined actions after it lead to; None: nothing was asked
    steps: list[ImaginedStep] = field(default_factory=list)  # the same action by action, its own first
    done: str = ""
    next_action: str = ""
    is_unread: bool = False  # an answer of the world model named no outcome
    prediction: Prediction | None = None  # by past transitions, of the last action that is imagined
    ahead: StepState | None = None  # that action's, as the planner found it on an imagined page; None: it is its own
    ahead_tree: str = ""  # that page as an accessibility tree
    score: Valuation = NO_SCORE
    graded: Sequence[str] = ()  # the answers that the score was read from, unreadable ones first
    ungraded: int = 0  # of them, those in which no grade was found

    def rating(self, share_weight: float) -> float:
        """What actions are compared by: the value alone, or with `share_weight` also how probable the action was.
        Without a value it is below all others."""
        if self.score.mean is None:
            return -math.inf
        if not share_weight:
            return self.score.mean
        return math.log(max(self.score.mean, TINY)) + share_weight * math.log(max(self.share, TINY))

    @property
    def situation(self) -> Situation:
        """The last action that is imagined, on its page."""
        seen = (self.ahead or self.state).observation
        tree = self.ahead_tree if self.ahead else self.tree
        asked = self.state.instruction, seen.root, self.last, seen.website, seen.conversation
        return Situation.of(*asked, tree=tree)

    @property
    def last(self) -> Action:
        """The last action that is imagined; its own, where nothing further is."""
        return (self.ahead.action if self.ahead else self.action) or Action("")

    @property
    def foretold(self) -> str:
        """What the action itself is expected to change; "" where nothing was asked, or no answer could be read."""
        return self.steps[0].prediction if self.steps else ""

    def add(self, step: ImaginedStep) -> None:
        """Take in what its next action is expected to change."""
        self.steps.append(step)
        self.expected = "\n".join(part for part in (self.expected, step.representation, step.prediction) if part)

    def filled(self, **more: str) -> dict[str, str]:
        """The values of the placeholders of the texts that ask about it."""
        return {"objective": self.state.instruction, "previous": previous(self.state)} | more


@dataclass(frozen=True)
class Compared:
    """The actions that are compared at one step."""

    state: StepState
    found: Sequence[Considered]
    place: int  # of the action that is taken where none is valued: the one that stops, or the most frequent one
    unvalued: str  # why none is imagined and valued, in words; "" where they are


TINY = 1e-9
