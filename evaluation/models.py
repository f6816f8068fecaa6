"""Judging what agents did: studies, the shards that workers run, and scores."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from agents.encoders.memory_limits import inference_advice
from agents.models import Run
from annotations.models import Leased, LeaseQuerySet, Project


class StudyQuerySet(models.QuerySet):
    def for_list(self) -> "StudyQuerySet":
        """Studies with what a list row shows."""
        return (
            self.select_related("project", "created_by")
            .prefetch_related("runs__dataset")
            .annotate(step_total=models.Sum("runs__step_count", default=0, distinct=False))
        )


class Study(models.Model):
    """A planned comparison: recipes × splits × seeds on one dataset."""

    class Preset(models.TextChoices):
        FAITHFUL = "faithful", "faithful (published quirks and groupings)"
        CORRECTED = "corrected", "corrected (all steps count; mean over conversations)"

    project = models.ForeignKey(Project, models.CASCADE, related_name="studies")
    name = models.CharField(max_length=200)
    preset = models.CharField(max_length=10, choices=Preset.choices, help_text="Which metric set is shown first.")
    runs = models.ManyToManyField(Run, related_name="studies")
    cancel_requested = models.BooleanField(default=False)
    # Hard limits on what its model calls may use; empty: no limit. Reaching one stops the study cleanly.
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    budget_cost = models.FloatField(null=True, blank=True)
    budget_seconds = models.PositiveIntegerField(null=True, blank=True)
    # What its model calls have used, with what is booked for those under way.
    spent_tokens = models.BigIntegerField(default=0)
    spent_cost = models.FloatField(default=0.0)
    spent_seconds = models.FloatField(default=0.0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name


class Shard(Leased):
    """Some conversations of a run: what one worker does under one lease. Results are stored per batch of steps."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="shards")
    index = models.PositiveIntegerField()
    conversation_ids = models.JSONField()
    step_count = models.PositiveIntegerField()
    published_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last told about it.")

    objects = LeaseQuerySet.as_manager()

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="shard_index_once")]

    def __str__(self) -> str:
        return f"shard {self.index} of run {self.run_id}"

    def memory_advice(self) -> str:
        return inference_advice(self.run.recipe)


class ScoreQuerySet(models.QuerySet):
    def headline(self, preset: str) -> "ScoreQuerySet":
        return self.filter(preset=preset, headline=True)


class Score(models.Model):
    """One metric value of a run with its 95 % interval; `grouping` says what the mean is taken over."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    preset = models.CharField(max_length=10, choices=Study.Preset.choices)
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
            models.CheckConstraint(condition=Q(low__lte=models.F("high")), name="score_interval_ordered"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.3f}"


class Breakdown(models.Model):
    """Where a scored run fails, by reason and slice; a function of its stored steps, like scores."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="breakdowns")
    preset = models.CharField(max_length=10, choices=Study.Preset.choices)
    step_count = models.PositiveIntegerField(help_text="Stored steps of the run when this was computed.")
    content = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "preset"], name="breakdown_once")]

    def __str__(self) -> str:
        return f"run {self.run_id}, {self.preset}"
