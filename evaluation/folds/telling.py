"""What a cross-validation found, in words and as JSON. Core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotations.agreement import Agreement
from evaluation.folds.results import DecidedFold, HeldOutShare, gained, share_of

PARTS = {"unseen tasks": False, "seen tasks": True}


@dataclass(frozen=True)
class CurvePoint:
    """All folds, learned from `limit` demonstrations a task, or from all there are."""

    limit: int | None
    folds: tuple[DecidedFold, ...]

    @property
    def label(self) -> str:
        return "all" if self.limit is None else str(self.limit)

    def shares(self) -> dict[str, HeldOutShare]:
        steps = [step for fold in self.folds for step in fold.steps]
        return {name: share_of([one for one in steps if one.seen == seen]) for name, seen in PARTS.items()}

    def learned(self) -> dict[str, float]:
        """Demonstrations and steps that a fold learned from, in the mean."""
        count = len(self.folds)
        return {
            "demonstrations": round(sum(fold.demonstrations for fold in self.folds) / count),
            "steps": round(sum(fold.learned for fold in self.folds) / count),
        }

    def to_dict(self) -> dict[str, object]:
        told = {name: share.to_dict() for name, share in self.shares().items()}
        return {"demonstrations_per_task": self.limit, "learned": self.learned(), **told}


def gains(before: Mapping[str, Mapping[str, float]], shares: Mapping[str, HeldOutShare]) -> dict[str, Agreement]:
    """What each part gained over an earlier output, as `before` tells it: part -> task -> share."""
    now = {name: {task: value for task, (value, _) in share.by_task.items()} for name, share in shares.items()}
    return {name: gained(earlier, now[name]) for name, earlier in before.items()}


def lines(name: str, share: HeldOutShare, gain: Agreement | None) -> list[str]:
    """A part in words: its figures, what failed, and its tasks, the worst first."""
    told = [
        f"{name}: {share.steps.n:,} steps of {len(share.by_task)} tasks",
        f"  step success over tasks {interval(share.tasks)}",
        f"  step success over steps {interval(share.steps)}",
        f"  over tasks, without {share.steps.n - share.novel.n:,} steps of words and content that were learned "
        f"{interval(share.novel)}",
    ]
    if gain is not None:
        told.append(f"  gained over tasks, of {gain.n} in both {interval(gain, sign='+')}")
    if few := share.tasks.too_few_of("task"):
        told.append(f"  {few}")
    told += [f"  failed by {cause:40}{count:6,}" for cause, count in share.causes.items()]
    worst = sorted(share.by_task.items(), key=lambda one: (one[1][0], one[0]))
    return told + [_task(task, value, n, share.causes_by_task[task]) for task, (value, n) in worst]


def _task(task: str, value: float, n: int, causes: Mapping[str, int]) -> str:
    failed = "; ".join(f"{cause} {count:,}" for cause, count in causes.items())
    return f"    {task:40}{value:8.3f} of {n:,}{failed and f'   {failed}'}"


def curve_lines(points: Sequence[CurvePoint]) -> list[str]:
    """The learning curve as a table."""
    told = [f"{'demonstrations a task':24}{'steps learned':>14}  " + "  ".join(f"{name:24}" for name in PARTS)]
    for point in points:
        shares = "  ".join(f"{interval(share.tasks):24}" for share in point.shares().values())
        told.append(f"{point.label:24}{point.learned()['steps']:14,}  {shares}".rstrip())
    return told


def interval(share: Agreement, sign: str = "") -> str:
    if share.value is None:
        return "nothing to tell"
    if share.low is None or share.high is None:
        return f"{share.value:{sign}.3f}"
    return f"{share.value:{sign}.3f} [{share.low:{sign}.3f}, {share.high:{sign}.3f}]"
