"""Scores of runs, and where runs fail. All are computed from stored steps and can be computed again."""

from typing import Self

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, Subquery

from agents.models import Run, Trajectory
from evaluation.models.studies import Study

REVIEWED = "reviewed"
SCORED_BY = [*Study.Preset.choices, (REVIEWED, "reviewed (corrected, by the gold that reviewers left or widened)")]


class ScoreQuerySet(models.QuerySet["Score"]):
    def with_conversations(self) -> Self:
        """Annotate `conversations`, how many conversations the score's run decides."""
        of_run = Trajectory.objects.filter(run=OuterRef("run")).order_by().values("run").annotate(n=Count("pk"))
        return self.annotate(conversations=Subquery(of_run.values("n")))

    def headline(self, preset: str) -> Self:
        """The values to show, by a preset. For `reviewed`, a run without reviews has its `corrected` values, which are
        the same."""
        if preset != REVIEWED:
            return self.filter(preset=preset, headline=True)
        own = Exists(self.model.objects.filter(run=OuterRef("run"), preset=REVIEWED))
        return self.filter(Q(preset=REVIEWED) | Q(~own, preset=Study.Preset.CORRECTED), headline=True)


class Score(models.Model):
    """One metric value of a run with its 95 % interval; `grouping` says what the mean is taken over."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    preset = models.CharField(max_length=10, choices=SCORED_BY)
    metric = models.CharField(max_length=60)
    grouping = models.CharField(max_length=40)
    headline = models.BooleanField(default=False)
    value = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    n = models.PositiveIntegerField(help_text="Items averaged at the outermost level.")

    objects = ScoreQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "preset", "metric", "grouping"], name="score_once"),
            models.CheckConstraint(condition=Q(low__lte=F("high")), name="score_interval_ordered"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.3f}"


class Breakdown(models.Model):
    """Where a scored run fails, by reason and slice, and what ranking took; a function of its stored steps, like
    scores."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="breakdowns")
    preset = models.CharField(max_length=10, choices=Study.Preset.choices)
    step_count = models.PositiveIntegerField(help_text="Stored steps of the run when this was computed.")
    content = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "preset"], name="breakdown_once")]

    def __str__(self) -> str:
        return f"run {self.run_id}, {self.preset}"


class ScannedRunQuerySet(models.QuerySet["ScannedRun"]):
    def steps_found(self, scanner: str) -> set[int]:
        """Keys of the steps in which a scanner found its failure, in any of these runs."""
        return {int(key) for findings in self.values_list("findings", flat=True) for key in findings.get(scanner, {})}


class ScannedRun(models.Model):
    """The findings of scanners in the failed steps of a run that is over; computed from its stored steps."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="scanned")
    step_count = models.PositiveIntegerField(help_text="Stored steps of the run when they were scanned.")
    scanners = models.TextField(help_text="Names of the scanners that looked at them.")
    findings = models.JSONField(default=dict, help_text="Scanner -> step of a trajectory -> what it saw.")
    clusters = models.JSONField(default=list, help_text="Failures that are alike: name and steps.")

    objects = ScannedRunQuerySet.as_manager()

    def __str__(self) -> str:
        return f"run {self.run_id}, scanned"

    def steps_found(self, scanner: str) -> set[int]:
        """Keys of the steps in which a scanner found its failure."""
        return {int(key) for key in self.findings.get(scanner, {})}
