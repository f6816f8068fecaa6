"""One observation on its way through the stages. Core."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.types import (
    Action,
    Branch,
    Decision,
    DecisionUsage,
    Image,
    Observation,
    PromptExemplar,
    PromptWorkflow,
    RankedCandidate,
    RecordedStep,
    Snippet,
)
from agents.words.exemplar_sets import PublishedExemplars
from agents.words.generator import PlannerPrompt


@dataclass
class StepState:
    """One observation on its way through the stages, with what each stage found, for later stages.

    A state is open until the stage `plan` has an action for it, or none; later stages skip a failed one. `shown` is
    what `simplify` leaves for the kind of `compose` that goes with it.
    """

    observation: Observation
    rng: random.Random  # of this step and seed (Q24: the published evaluation never seeds)
    instruction: str  # the turn's, or rewritten to stand alone
    sees_text: bool = True
    image: Image | None = None
    ranking: tuple[RankedCandidate, ...] = ()
    ranked_turn: int | None = None  # WebLINX: the earlier turn whose elements are ranked, where this one has no page
    best: tuple[Any, ...] = ()  # what the ranking knows of its best elements, for a planner that goes with it
    memory: tuple[RecordedStep, ...] = ()  # in prompt order, with pages
    snippets: tuple[Snippet, ...] = ()  # the same for the replay
    exemplars: tuple[PromptExemplar, ...] = ()
    workflows: tuple[PromptWorkflow, ...] = ()
    exemplar_set: PublishedExemplars | None = None  # that a program is written after
    ranks: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # of past steps: step -> node id -> rank
    shown: Any = None
    prompt: PlannerPrompt | None = None
    open: bool = True
    action: Action | None = None
    following: tuple[Action, ...] = ()  # what is done after it without looking at the page again
    drawn: tuple[Action | None, ...] = ()  # the actions of all samples, in the order in which they were drawn
    written: tuple[str, ...] = ()  # the same as the model wrote them, of planners that are judged by that
    shares: tuple[float, ...] = ()  # of `drawn`, where a planner gives its best ones once each, with their probability
    stage: str = "observe"  # that it is in
    error: str = ""  # in words, why there is no action although there should be
    usage: DecisionUsage = field(default_factory=DecisionUsage)
    trace: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    branches: tuple[Branch, ...] = ()  # what stage `imagine` compared

    @classmethod
    def of(cls, observation: Observation, seed: int) -> "StepState":
        return cls(observation, random.Random(f"{seed} {observation.key}"), observation.instruction)

    def fail(self, error: str) -> None:
        """Close the state without an action, and note why."""
        self.note(self.stage, error=error)
        self.error, self.open, self.action = error, False, None

    def close(self, action: Action | None) -> None:
        self.action, self.open = action, False

    def best_ids(self, count: int) -> list[str]:
        """Backend node ids of the best `count` candidates, best first."""
        return [candidate.node_id for candidate in self.ranking[:count]]

    def page_ids(self, count: int, *, with_gold: bool) -> list[str]:
        """The ids of so many elements that the page is shown around. `with_gold`: the gold one is always among them,
        where it is known: a leak (quirk Q18)."""
        leaked = self.observation.leaked_gold
        if with_gold and leaked:
            others = [c.node_id for c in self.ranking if c.node_id not in leaked]
            return [leaked[0], *others[: count - 1]]
        return self.best_ids(count)

    def note(self, stage: str, **found: Any) -> None:
        """Add to what a stage has recorded for the trace."""
        self.trace.setdefault(stage, {}).update(found)

    def decision(self) -> Decision:
        return Decision(
            (self.action, *self.following) if self.action else (),
            self.ranking,
            self.snippets,
            tuple(exemplar.key for exemplar in self.exemplars),
            tuple(workflow.key for workflow in self.workflows),
            self.usage,
            self.trace,
            self.seconds,
            self.branches,
            self.error,
        )
