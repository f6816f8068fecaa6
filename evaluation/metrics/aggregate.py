"""Means over judged steps, as published (`faithful`) and as they should be (`corrected`); planners spec 6.3."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.metrics import ADDED, METRICS, Unit
from evaluation.metrics.grouping import Groups
from evaluation.metrics.outcomes import StepOutcome

# published name -> our metric and what it is a mean over; "marco" is the published spelling
PUBLISHED: dict[str, tuple[str, Unit]] = {
    "element_acc": ("element_accuracy", "step"),
    "action_f1": ("operation_f1", "step"),
    "step_acc": ("step_success", "step"),
    "marco_element_acc": ("element_accuracy", "turn"),
    "marco_action_f1": ("operation_f1", "turn"),
    "marco_step_acc": ("step_success", "conversation"),
    "marco_turn_acc": ("turn_success", "conversation"),
}
CORRECTED_METRICS = (
    *("element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success"),
    *("recall@1", "recall@5", "recall@10", "recall@20", "recall@50", "recall@100", "mrr"),
    *ADDED,
)
# What a metric of each unit can be averaged over; the headline, the mean over conversations, comes first.
GROUPINGS: dict[Unit, tuple[Unit, ...]] = {
    "step": ("conversation", "turn", "step"),
    "turn": ("conversation", "turn"),
    "conversation": ("conversation",),
}


def aggregate_faithful(outcomes: Sequence[StepOutcome], legacy_tail: bool = True) -> dict[str, Any]:
    """The published result file: three means over steps, four `marco_*`, `error_ratio` and `acc_per_website`.

    `legacy_tail` reproduces Q6: the published loop refreshes everything but the three means over steps only at
    steps that are not skipped, so skipped steps at the end of the split are overlooked, and it raises
    UnboundLocalError when all are. False counts every step and gives zeros for none. `error_ratio` is divided by
    the number of turns, as published (Q15); `error_ratio_per_conversation` is our addition and sums to 1.
    """
    everything = Groups(outcomes)
    counted = Groups(without_skipped_tail(outcomes)) if legacy_tail else everything
    if legacy_tail and not counted.steps:
        raise UnboundLocalError("every step was skipped, so the published loop never computed its aggregates (Q6)")
    result: dict[str, Any] = {}
    for published, (metric, grouping) in PUBLISHED.items():
        groups = everything if grouping == "step" else counted
        result[published] = groups.column(metric, grouping).value
    histogram = error_histogram(counted)
    result["error_ratio"] = {errors: count / len(counted.turns) for errors, count in histogram.items()}
    result["acc_per_website"] = _accuracy_per_website(counted)
    result["error_ratio_per_conversation"] = {
        errors: count / len(counted.conversations) for errors, count in histogram.items()
    }
    return result


def aggregate_corrected(outcomes: Sequence[StepOutcome]) -> dict[str, dict[Unit, float]]:
    """Metric name -> grouping -> value, over all steps; the first grouping of each is the headline.

    `turn_success` by turn is turns succeeded / turns. Zeros for no steps.
    """
    groups = Groups(outcomes)
    return {
        metric: {grouping: groups.column(metric, grouping).value for grouping in GROUPINGS[METRICS[metric].unit]}
        for metric in CORRECTED_METRICS
    }


def without_skipped_tail(outcomes: Sequence[StepOutcome]) -> list[StepOutcome]:
    """The steps in split order up to the last one that was not skipped (Q6)."""
    steps = sorted(outcomes, key=lambda step: step.position)
    while steps and steps[-1].skipped:
        steps.pop()
    return steps


def error_histogram(groups: Groups) -> dict[str, int]:
    """Number of failed steps ("0" .. "3", ">3") -> how many conversations have that many."""
    failures = [0] * len(groups.conversations)
    for step, number in zip(groups.steps, groups.index["step", "conversation"], strict=True):
        failures[number] += not step.success
    return dict(Counter(str(count) if count <= 3 else ">3" for count in failures))


def _accuracy_per_website(groups: Groups) -> dict[str, list[float]]:
    """Website -> [mean of its conversations' step success, number of them]."""
    website_of = {step.conversation: step.website for step in groups.steps}
    means = groups.column("step_success", "conversation").numerators
    by_website: dict[str, list[float]] = defaultdict(list)
    for conversation, mean in zip(groups.conversations, means, strict=True):
        by_website[website_of[conversation]].append(mean)
    return {website: [float(np.mean(values)), len(values)] for website, values in by_website.items()}
