"""What the stages before it hand to a planner, and what it gives back. Core."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.stages.simplify.snippets import PastStep
from agents.types import (
    Action,
    DecisionUsage,
    Observation,
    PromptExemplar,
    PromptWorkflow,
    RankedCandidate,
    RecordedStep,
)


@dataclass(frozen=True)
class Prepared:
    """A step ready for planning."""

    observation: Observation
    ranking: tuple[RankedCandidate, ...]
    rng: random.Random  # of this step and seed (Q24: the published evaluation never seeds)
    instruction: str  # the turn's, or rewritten to stand alone
    memory: tuple[PastStep, ...] = ()  # in prompt order
    history: tuple[RecordedStep, ...] = ()  # earlier steps of this turn, with pages
    exemplars: tuple[PromptExemplar, ...] = ()
    workflows: tuple[PromptWorkflow, ...] = ()
    ranked_turn: int | None = None  # WebLINX: the earlier turn whose elements are ranked, where this has no page
    ranks: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # of past steps: step -> node id -> rank

    def best(self, count: int) -> list[str]:
        """Backend node ids of the best `count` candidates, best first."""
        return [candidate.node_id for candidate in self.ranking[:count]]


@dataclass
class Planned:
    """A planner's decision; `error` says in words why there is no action although there should be."""

    action: Action | None = None
    usage: DecisionUsage = field(default_factory=DecisionUsage)
    error: str = ""
    trace: dict[str, Any] = field(default_factory=dict)  # of the stages simplify, compose, plan and act


class Planner(Protocol):
    """Stages simplify, compose and plan."""

    def plan(self, steps: Sequence[Prepared]) -> list[Planned]: ...


def read_action(element: str | None, text: str) -> Action | None:
    """The action of "OP value" on an element; None where no element was chosen."""
    if element is None:
        return None
    operation, _, value = text.partition(" ")
    return Action(operation, element, value.strip())
