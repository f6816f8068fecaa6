"""How often held-out steps were decided rightly: over steps, over tasks, and what failed. Core."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.agreement import Agreement, estimate, mean, mean_counts

RIGHT = "right"  # what else comes of a step is the cause of its failure


@dataclass(frozen=True)
class HeldOutStep:
    """A step that was decided by a model that had not learned from its conversation. `seen`: though from others of its
    task; `known`: and from a step of the same words and the same content, as tasks of few pages have many."""

    task: str
    seen: bool
    came: str  # RIGHT, or the cause
    known: bool = False


@dataclass(frozen=True)
class DecidedFold:
    """What a fold learned from, and how it decided what it did without."""

    demonstrations: int
    learned: int  # steps
    steps: tuple[HeldOutStep, ...]


@dataclass(frozen=True)
class HeldOutShare:
    """The share of held-out steps that are right. Intervals draw tasks, as steps of one task are alike."""

    steps: Agreement
    tasks: Agreement  # the mean over tasks of each one's share
    novel: Agreement  # the same, without steps that are `known`
    by_task: dict[str, tuple[float, int]]  # share and steps
    causes: dict[str, int]  # most frequent first
    causes_by_task: dict[str, dict[str, int]]

    def to_dict(self) -> dict[str, object]:
        return {
            "steps": _told(self.steps),
            "tasks": _told(self.tasks),
            "without_known": _told(self.novel),
            "by_task": {
                task: {"value": share, "n": n, "failures": self.causes_by_task[task]}
                for task, (share, n) in self.by_task.items()
            },
            "failures": self.causes,
        }


def share_of(steps: Sequence[HeldOutStep]) -> HeldOutShare:
    counts = _counts(steps)
    by_task = {task: (float(mean(of_task)), int(of_task[1])) for task, of_task in counts.items()}
    causes: dict[str, Counter[str]] = {task: Counter() for task in by_task}
    for step in steps:
        causes[step.task].update([] if step.came == RIGHT else [step.came])
    novel = [step for step in steps if not step.known]
    return HeldOutShare(
        estimate(counts, mean, len(steps)),
        mean_over({task: share for task, (share, _) in by_task.items()}),
        mean_over({task: float(mean(of_task)) for task, of_task in _counts(novel).items()}, len(novel)),
        by_task,
        dict(sum(causes.values(), Counter()).most_common()),
        {task: dict(of_task.most_common()) for task, of_task in causes.items()},
    )


def _counts(steps: Sequence[HeldOutStep]) -> dict[str, np.ndarray]:
    right: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        right[step.task].append(float(step.came == RIGHT))
    return {task: mean_counts(values) for task, values in sorted(right.items())}


def mean_over(values: Mapping[str, float], n: int | None = None) -> Agreement:
    """The mean of one value a task; its interval draws tasks. `n`: of how many comparisons, else one a task."""
    counts = {task: mean_counts([value]) for task, value in values.items()}
    return estimate(counts, mean, len(values) if n is None else n)


def gained(before: Mapping[str, float], now: Mapping[str, float]) -> Agreement:
    """What tasks gained in the mean over an earlier cross-validation, of those that both have: share of each by its
    name."""
    return mean_over({task: now[task] - before[task] for task in sorted(before.keys() & now.keys())})


def _told(share: Agreement) -> dict[str, object]:
    return {"value": share.value, "low": share.low, "high": share.high, "n": share.n, "tasks": share.sessions}
