"""A past step as prompts show it, and the request for its rationale. Core."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.types import DecisionUsage, OnPage, RecordedStep


@dataclass(frozen=True)
class PastStep(OnPage):
    """A step whose gold action may be shown, with the other elements of its page in the order of a recipe's ranker."""

    key: int  # of the step, for the caller to find rationales by
    turn_index: int
    step_index: int  # within the turn
    instruction: str
    action_repr: str
    operation: str  # CLICK, TYPE, SELECT
    value: str
    html: str
    positive_ids: tuple[str, ...] = ()
    negatives: tuple[tuple[str, int], ...] = ()  # backend node id, rank from 0
    past_actions: tuple[str, ...] = ()  # representations of the earlier actions of its turn
    rationale: str | None = None  # known from before, written by a person or a model
    raw_html: str = ""  # the page as recorded, where cleaning lost the target and the data hold it
    raw_target_id: str = ""  # the target in it

    @classmethod
    def of(cls, step: RecordedStep, negatives: Iterable[tuple[str, int]] = ()) -> "PastStep":
        """The past step of a recorded step; gold elements among `negatives` are left out."""
        seen, gold = step.observation, set(step.positive_ids)
        return cls(
            seen.key,
            seen.turn_index,
            seen.step_index,
            seen.instruction,
            step.action.representation,
            step.action.operation,
            step.action.value,
            seen.html,
            step.positive_ids,
            tuple((node_id, rank) for node_id, rank in negatives if node_id not in gold),
            tuple(past.representation for past in seen.turn_actions),
            step.rationale,
            step.raw_html,
            step.action.node_id or "",
        )

    @property
    def target_id(self) -> str:
        """The first positive, else the target in the recorded page, else ""."""
        return self.positive_ids[0] if self.positive_ids else self.raw_target_id


@dataclass(frozen=True, slots=True)
class RationaleRequest:
    """What a rationale is asked for. `gold_id` is None where the answer is "none"; page and answer are not used
    then."""

    step: PastStep
    gold_id: str | None
    page: str  # text of the page pruned around the gold element
    answer: str  # the gold answer without its element


Rationales = Callable[[RationaleRequest], str | None]


class MissingRationales(Protocol):
    """Has missing rationales written: past step -> (text, its usage)."""

    def write(self, requests: Sequence[RationaleRequest]) -> dict[int, tuple[str, DecisionUsage]]: ...
