"""How often held-out steps were decided rightly: over steps, over tasks, and what failed. Core."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotations.agreement import Agreement, estimate, mean, mean_counts

RIGHT = "right"  # what else comes of a step is the cause of its failure


@dataclass(frozen=True)
class HeldOutStep:
    """A step that was decided by a model that had not learned from its conversation. `seen`: though from others of its
    task."""

    task: str
    seen: bool
    came: str  # RIGHT, or the cause


@dataclass(frozen=True)
class HeldOutShare:
    """The share of held-out steps that are right. Intervals draw tasks, as steps of one task are alike."""

    steps: Agreement
    tasks: Agreement  # the mean over tasks of each one's share
    by_task: dict[str, tuple[float, int]]  # share and steps
    causes: dict[str, int]  # most frequent first

    def to_dict(self) -> dict[str, object]:
        return {
            "steps": _told(self.steps),
            "tasks": _told(self.tasks),
            "by_task": {task: {"value": share, "n": n} for task, (share, n) in self.by_task.items()},
            "failures": self.causes,
        }


def share_of(steps: Sequence[HeldOutStep]) -> HeldOutShare:
    right: dict[str, list[float]] = defaultdict(list)
    for step in steps:
        right[step.task].append(float(step.came == RIGHT))
    counts = {task: mean_counts(values) for task, values in sorted(right.items())}
    by_task = {task: (float(mean(of_task)), int(of_task[1])) for task, of_task in counts.items()}
    causes = Counter(step.came for step in steps if step.came != RIGHT)
    shares = {task: share for task, (share, _) in by_task.items()}
    return HeldOutShare(estimate(counts, mean, len(steps)), mean_over(shares), by_task, dict(causes.most_common()))


def mean_over(values: Mapping[str, float]) -> Agreement:
    """The mean of one value a task; its interval draws tasks."""
    return estimate({task: mean_counts([value]) for task, value in values.items()}, mean, len(values))


def gained(before: Mapping[str, float], now: Mapping[str, float]) -> Agreement:
    """What tasks gained in the mean over an earlier cross-validation, of those that both have: share of each by its
    name."""
    return mean_over({task: now[task] - before[task] for task in sorted(before.keys() & now.keys())})


def _told(share: Agreement) -> dict[str, object]:
    return {"value": share.value, "low": share.low, "high": share.high, "n": share.n, "tasks": share.sessions}
