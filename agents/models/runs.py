"""Runs of agents over the recorded conversations of a dataset."""

from django.conf import settings
from django.db import models
from django.db.models import OuterRef

from annotations.models import Dataset, Split
from annotations.models.tallies import Tally


class RunTally(Tally):
    """Stored steps of a run, and those of them in which the agent reported an error."""

    KEYS = ("run_id",)
    COUNTS = ("done", "failed")

    run = models.ForeignKey("Run", models.DO_NOTHING, related_name="+", db_constraint=False)
    done = models.IntegerField()
    failed = models.IntegerField()

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.done:+}"


class RunQuerySet(models.QuerySet):
    def with_progress(self) -> "RunQuerySet":
        """Runs with `done` and `failed`, their stored steps and those in which the agent reported an error."""
        here = {"run": OuterRef("pk")}
        return self.annotate(done=RunTally.total("done", **here), failed=RunTally.total("failed", **here))


class Run(models.Model):
    """One recipe on one split of a dataset with one seed. Stores the recipe whole, so that it can be repeated."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        DONE_WITH_ERRORS = "done_with_errors", "done, with errors"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    recipe_name = models.CharField(max_length=100)
    recipe = models.JSONField()
    recipe_sha256 = models.CharField(max_length=64)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="runs")
    split = models.CharField(max_length=20, choices=Split.choices, blank=True, help_text="Empty: every split.")
    seed = models.PositiveIntegerField(default=0)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="First conversations only.")
    code_revision = models.CharField(max_length=64, blank=True)
    data_sha256 = models.CharField(max_length=64, help_text="Of the conversations it covers.")
    step_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.recipe_name} on {self.dataset} · {self.split or 'all splits'} · seed {self.seed}"

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)
