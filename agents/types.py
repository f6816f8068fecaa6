"""The words that stages exchange: observation in, decision out. Core: frozen, no Django, no torch."""

from dataclasses import dataclass, field
from typing import Any, Protocol

STAGES = ("observe", "rank", "recall", "simplify", "compose", "plan", "imagine", "act")
"""The stage words of design.md section 1: trace keys, panels of the replay page and timings use them."""


@dataclass(frozen=True)
class Action:
    """Operation, target element and value; `node_id` is None for operations without an element."""

    operation: str
    node_id: str | None = None
    value: str = ""

    def operation_text(self) -> str:
        """ "OP value" as the operation F1 compares it; a CLICK has no value (planners.md 6.1)."""
        return f"{self.operation} {'' if self.operation == 'CLICK' else self.value}".strip()


@dataclass(frozen=True)
class PastAction:
    """An action already done, as models read it: "[button]  Search -> CLICK"."""

    representation: str
    operation: str
    node_id: str | None
    value: str = ""


@dataclass(frozen=True)
class Observation:
    """What a policy is given at a step. Holds nothing about the gold action."""

    key: int  # of the step, for the caller to match decisions
    conversation: int
    turn_index: int
    step_index: int  # within the turn
    website: str
    domain: str
    subdomain: str
    instruction: str
    html: str
    candidate_ids: tuple[str, ...] = ()  # empty: every element of the page may be ranked
    turn_actions: tuple[PastAction, ...] = ()  # earlier actions of this turn
    earlier_instructions: tuple[str, ...] = ()  # of earlier turns, oldest first


@dataclass(frozen=True)
class Snippet:
    """A memory snippet as retrieved: one past step of the same conversation."""

    step: int
    turn_index: int
    step_index: int
    instruction: str
    action: str  # representation
    similarity: float | None  # cosine; None where order is not by similarity


class Memory(Protocol):
    """Where a policy recalls from; the shell implements it over pgvector, tests over lists."""

    def snippets(self, observations: list[Observation], queries: list[list[float]], k: int) -> list[list[Snippet]]:
        """The k nearest snippets of earlier turns for each observation, most similar first."""
        ...


@dataclass(frozen=True)
class RankedCandidate:
    """One ranked element; `rank` counts from 0."""

    node_id: str
    score: float
    rank: int
    text: str  # short description for people


@dataclass(frozen=True)
class Usage:
    """Model calls of a decision; tokens are 0 where a stage has no tokenizer."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class Decision:
    """1..n actions and everything needed to understand them. `trace` maps a stage word to what it recorded."""

    actions: tuple[Action, ...]
    ranking: tuple[RankedCandidate, ...] = ()  # the whole ranking, best first
    memory: tuple[Snippet, ...] = ()
    usage: Usage = Usage()
    trace: dict[str, Any] = field(default_factory=dict)  # JSON-serialisable
    seconds: dict[str, float] = field(default_factory=dict)  # per stage word


class Policy(Protocol):
    """The whole composition; batch-first, a live episode is a batch of one."""

    def decide(self, observations: list[Observation]) -> list[Decision]: ...
