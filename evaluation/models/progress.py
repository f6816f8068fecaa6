"""The progress of a study's runs: what is in the database, who works on it, and how fast.

`runs` come with `done` and `failed` (`Run.objects.with_progress`).
"""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from agents.models import Run, Trajectory, TrajectoryStep
from annotations.live import ago_text, counts_text, pace_text
from evaluation.models.shards import Shard

RATE_WINDOW = timedelta(minutes=3)  # results come in batches: a shorter one would jump between nothing and too much
WORST_FIRST = (Run.State.FAILED, Run.State.CANCELLED, Run.State.DONE_WITH_ERRORS, Run.State.DONE)


def state_of(runs: Sequence[Run]) -> str:
    """One state for all runs: running while one runs, else the worst of how they ended."""
    states = {run.state for run in runs}
    if Run.State.RUNNING in states:
        return Run.State.RUNNING
    if Run.State.QUEUED in states:
        return Run.State.RUNNING if len(states) > 1 else Run.State.QUEUED
    return next((state for state in WORST_FIRST if state in states), Run.State.DONE)


def words_of(runs: Sequence[Run]) -> dict[str, str]:
    """The counts of all together and of each, and what there is to say of their pace."""
    done, total = _done(runs), _total(runs)
    return {
        "headline": counts_text(done, total, unit_of(runs)),
        "detail": " · ".join(part for part in _details(runs, total - done) if part),
    } | {f"run-{run.pk}": counts_text(run.done, run.step_count, run.unit) for run in runs}


def bar_of(runs: Sequence[Run]) -> tuple[float, float, float]:
    """The fractions done, failed and under way."""
    done, total = _done(runs), _total(runs) or 1
    failed = sum(run.failed for run in runs)
    held = Shard.objects.filter(run__in=runs).under_way() if state_of(runs) in Run.OPEN else 0
    return (done - failed) / total, failed / total, min(total - done, held) / total


def unit_of(runs: Sequence[Run]) -> str:
    """What is counted: those of one study are all of one dataset."""
    return runs[0].unit if runs else "steps"


def steps_per_second(runs: Sequence[Run]) -> float | None:
    """Over the last minutes, or episodes of live runs; None when nothing was stored in them."""
    now = timezone.now()
    since = now - RATE_WINDOW
    if unit_of(runs) == "episodes":
        ended = Trajectory.objects.filter(run__in=runs, updated_at__gte=since)
        count = ended.filter(state=Trajectory.State.DONE).count()
    else:
        count = TrajectoryStep.objects.filter(run__in=runs, created_at__gte=since).count()
    if not count:
        return None
    first = min((run.started_at for run in runs if run.started_at), default=now - RATE_WINDOW)
    seconds = max(1.0, (now - max(first, now - RATE_WINDOW)).total_seconds())
    return count / seconds


def _done(runs: Sequence[Run]) -> int:
    return sum(run.done for run in runs)


def _total(runs: Sequence[Run]) -> int:
    return sum(run.step_count for run in runs)


def _details(runs: Sequence[Run], left: int) -> list[str]:
    if state_of(runs) not in Run.OPEN:
        ended = max((run.finished_at for run in runs if run.finished_at), default=None)
        return [f"finished {ago_text(ended)}" if ended else ""]
    shards = Shard.objects.filter(run__in=runs)
    workers, rate = shards.workers_text(), steps_per_second(runs)
    if not rate and any(run.state == Run.State.RUNNING for run in runs):
        return [shards.phase_text() or "results come in batches", workers]
    return [*pace_text(rate, left / rate if rate else None, unit_of(runs)), workers]
