"""Was the decision right? One judgement per step, from facts only."""

from dataclasses import dataclass

from agents.types import Action, RankedCandidate
from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.step import step_success


@dataclass(frozen=True)
class Gold:
    """What people did: any of `node_ids` is acceptable; empty when the element was pruned away."""

    operation: str
    value: str
    node_ids: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """`gold_rank` counts from 0; None when no gold element was ranked."""

    element_correct: bool
    operation_f1: float
    success: bool
    gold_rank: int | None


def judge(action: Action | None, ranking: tuple[RankedCandidate, ...], gold: Gold) -> Judgement:
    """Element: any acceptable gold element. Operation F1 on "OP value" (planners.md 6.1, punctuation left out)."""
    rank = next((candidate.rank for candidate in ranking if candidate.node_id in gold.node_ids), None)
    if action is None:
        return Judgement(False, 0.0, False, rank)
    element = element_accuracy(action.node_id or "", gold.node_ids)
    wanted = Action(gold.operation, None, gold.value).operation_text()
    f1 = operation_f1(action.operation_text(), wanted, strip_punctuation=True)
    return Judgement(bool(element), f1, bool(step_success(element, f1)), rank)
