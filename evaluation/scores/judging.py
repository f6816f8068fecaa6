"""Judges whether a decision was right: one judgement for each step, from facts only."""

from dataclasses import dataclass

from agents.recipes.settings import Quirks
from agents.stages.plan.kinds import PublishedJudging
from agents.types import Action, RankedCandidate
from agents.words.trajectory import TrajectoryQuirks
from agents.words.trajectory_page import act_text
from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.step import step_success
from evaluation.metrics.trajectory import score_act


@dataclass(frozen=True)
class Gold:
    """What people did: any of `node_ids` is acceptable; empty when the element was pruned away."""

    operation: str
    value: str
    node_ids: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """The judgement of a decision. `gold_rank` counts from 0; None when no gold element was ranked."""

    element_correct: bool
    operation_f1: float
    success: bool
    gold_rank: int | None


def judge(action: Action | None, ranking: tuple[RankedCandidate, ...], gold: Gold) -> Judgement:
    """Judge an action. The element is right if it is any acceptable gold element; operation F1 compares "OP value"
    (sources.md M6.1, punctuation left out). An element without an operation is what agents choose that only rank: the
    step is right where that is."""
    rank = next((candidate.rank for candidate in ranking if candidate.node_id in gold.node_ids), None)
    if action is None:
        return Judgement(False, 0.0, False, rank)
    element = element_accuracy(action.node_id or "", gold.node_ids)
    if not action.operation:
        return Judgement(bool(element), 0.0, bool(element), rank)
    wanted = Action(gold.operation, None, gold.value).operation_text()
    f1 = operation_f1(action.operation_text(), wanted, strip_punctuation=True)
    return Judgement(bool(element), f1, bool(step_success(element, f1)), rank)


FAITHFUL = Quirks()  # all on


def judge_as_published(
    published: PublishedJudging, action: Action | None, text: str, gold: Gold, quirks: Quirks = FAITHFUL
) -> tuple[float, float, bool]:
    """(element accuracy, operation F1, success) of a stored decision under the quirks of its planner's own evaluation.

    By text: `text` is the action as it was written; it must equal the gold action's text, and only the first gold
    element counts (Q19, Q20); by parts, what is read from both texts must be equal. Else the value that a CLICK was
    given is kept, while the gold CLICK has none (sources.md M6.1), and punctuation counts in the F1 of some (Q25).
    """
    if published.by_text:
        wanted = act_text(gold.operation, next(iter(gold.node_ids), ""), gold.value)
        narrowed = quirks.narrowed(TrajectoryQuirks)
        scored = score_act(text, wanted, gold.node_ids, narrowed, by_parts=published.by_parts)
        return scored.element_accuracy, scored.operation_f1, scored.success
    if action is None:
        return 0.0, 0.0, False
    element = element_accuracy(action.node_id or "", gold.node_ids)
    wanted = Action(gold.operation, None, gold.value).operation_text()
    said = f"{action.operation} {action.value}" if quirks.click_value_counts else action.operation_text()
    keeps_punctuation = published.keeps_punctuation and quirks.q25_punctuation_counts
    f1 = operation_f1(said, wanted, strip_punctuation=not keeps_punctuation)
    return element, f1, bool(step_success(element, f1))
