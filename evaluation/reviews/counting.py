"""Brings reviews into scores: woken when a review is given, and swept regularly, so that a lost message only delays
it."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Q

from agents.models import Run, TrajectoryStep
from annotations.jobs import waking
from annotations.models import Correction
from evaluation.models import Review
from evaluation.scores.reviewed import ReviewedScores

count_task: Any = None
"""Celery's task that does it; `evaluation.apps` sets it."""


def count_reviews() -> int:
    """Compute the scores of every run that an uncounted review or correction is about; returns the number of runs."""
    waiting = list(Review.objects.uncounted().values_list("pk", "changed_at", "step__step"))
    corrections = dict(Correction.objects.uncounted().values_list("pk", "step"))
    steps = {step for _, _, step in waiting} | set(corrections.values())
    of_steps = TrajectoryStep.objects.filter(step__in=steps).values("run")
    runs = Run.objects.filter(pk__in=of_steps).exclude(state__in=Run.OPEN)  # an open one is scored when it ends
    for run in runs:
        ReviewedScores(run).store()
    for pk, changed_at, _ in waiting:
        Review.objects.filter(pk=pk, changed_at=changed_at).note_counted()
    Correction.objects.filter(pk__in=corrections).note_counted()
    return len(runs)


def being_counted(runs: Collection[int]) -> set[int]:
    """Those of these runs (keys) whose scores do not know yet of a review or a correction."""
    said = Q(step__in=Review.objects.uncounted().values("step__step"))
    corrected = Q(step__in=Correction.objects.uncounted().values("step"))
    steps = TrajectoryStep.objects.filter(said | corrected, run__in=runs)
    return set(steps.order_by().values_list("run", flat=True).distinct())


def wake_on_commit() -> None:
    """Have reviews counted after the commit. Robust: where Redis is away the review is stored all the same, and the
    sweep counts it."""
    transaction.on_commit(_wake, robust=True)


def _wake() -> None:
    if waking.broker_answers():
        count_task.delay()
