"""The progress of a study: what is in the database, who works on it, and how fast."""

from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from agents.models import Run, TrajectoryStep
from annotations.hosts.identity import shown
from annotations.jobs.live import Live, ago_text, counts_text, pace_text, worker_text
from evaluation.models import Shard, Study

RATE_WINDOW = timedelta(minutes=3)  # results come in batches: a shorter one would jump between nothing and too much
LABELS = {"done_with_errors": "done, with errors"}
WORST_FIRST = (Run.State.FAILED, Run.State.CANCELLED, Run.State.DONE_WITH_ERRORS, Run.State.DONE)


def study_state(runs: list[Run]) -> str:
    """One state for all runs: running while one runs, else the worst of how they ended."""
    states = {run.state for run in runs}
    if Run.State.RUNNING in states:
        return Run.State.RUNNING
    if Run.State.QUEUED in states:
        return Run.State.RUNNING if len(states) > 1 else Run.State.QUEUED
    return next((state for state in WORST_FIRST if state in states), Run.State.DONE)


def with_progress(study: Study) -> list[Run]:
    """The study's runs, each with `done` and `failed` steps."""
    return list(study.runs.with_progress().select_related("dataset").order_by("id"))


def study_live(study: Study, runs: list[Run]) -> Live:
    state = study_state(runs)
    total, done = sum(run.step_count for run in runs), sum(run.done for run in runs)
    failed = sum(run.failed for run in runs)
    running = state in (Run.State.QUEUED, Run.State.RUNNING)
    label = "cancelling" if study.cancel_requested and running else LABELS.get(state, state)
    fields = {
        "headline": counts_text(done, total, "steps"),
        "detail": " · ".join(part for part in _details(runs, total - done, running) if part),
        "state": state,
        "state_label": label,
    } | {f"run-{run.pk}": counts_text(run.done, run.step_count, "steps") for run in runs}
    under_way = _under_way(runs, total - done) if running else 0
    bar = tuple(part / total if total else 0.0 for part in (done - failed, failed, under_way))
    version = " ".join(f"{run.pk}:{run.state}" for run in runs) + f" {study.cancel_requested}"
    return Live(running, version, fields, bar)


def _details(runs: list[Run], left: int, running: bool) -> list[str]:
    if not running:
        ended = max((run.finished_at for run in runs if run.finished_at), default=None)
        return [f"finished {ago_text(ended)}" if ended else ""]
    rate = steps_per_second(runs)
    if not rate and any(run.state == Run.State.RUNNING for run in runs):
        return ["results come in batches", _worker(runs)]
    return [*pace_text(rate, left / rate if rate else None, "steps"), _worker(runs)]


def steps_per_second(runs: list[Run]) -> float | None:
    """Over the last minutes; None when nothing was stored in them."""
    now = timezone.now()
    recent = TrajectoryStep.objects.filter(run__in=runs, created_at__gte=now - RATE_WINDOW)
    count = recent.count()
    if not count:
        return None
    first = min((run.started_at for run in runs if run.started_at), default=now - RATE_WINDOW)
    seconds = max(1.0, (now - max(first, now - RATE_WINDOW)).total_seconds())
    return count / seconds


def _worker(runs: list[Run]) -> str:
    """Who works on the shards; for waiting ones, since when and for what."""
    shards = Shard.objects.filter(run__in=runs)
    at_work = shards.filter(state=Shard.State.RUNNING).values("lease_owner").annotate(heard=Max("heartbeat_at"))
    owners = [f"{shown(row['lease_owner'])}, last heard {ago_text(row['heard'])}" for row in at_work if row["heard"]]
    if owners:
        return "; ".join(owners[:3])
    waiting = shards.filter(state=Shard.State.QUEUED).order_by("created_at").first()
    return worker_text(waiting) if waiting else ""


def _under_way(runs: list[Run], left: int) -> int:
    """Steps of the shards that workers hold; some of them may be stored already, hence at most what is left."""
    held = Shard.objects.filter(run__in=runs, state=Shard.State.RUNNING).values_list("step_count", flat=True)
    return min(left, sum(held))
