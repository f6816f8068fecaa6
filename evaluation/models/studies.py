"""Studies: planned comparisons of recipes, how far they are, and what their model calls may use."""

import time
from collections.abc import Sequence

from django.conf import settings
from django.db import models
from django.db.models import Min, Sum

from agents.llm.budget import SpendLimits
from agents.models import Run
from annotations.jobs.live import Live
from annotations.models import Project
from evaluation.models.progress import bar_of, state_of, words_of


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

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    def runs_with_progress(self) -> list[Run]:
        """Its runs, each with `done` and `failed` steps."""
        return list(self.runs.with_progress().select_related("dataset").order_by("id"))

    def progress(self, runs: Sequence[Run] | None = None) -> Live:
        """As its page shows it. `runs`: those of `runs_with_progress`, where they are known."""
        runs = self.runs_with_progress() if runs is None else runs
        state, fields, bar = state_of(runs), words_of(runs), bar_of(runs)
        is_open = state in Run.OPEN
        label = "cancelling" if self.cancel_requested and is_open else Run.State(state).label
        version = " ".join(f"{run.pk}:{run.state}" for run in runs) + f" {self.cancel_requested}"
        return Live(is_open, version, fields | {"state": state, "state_label": label}, bar)

    def summary(self) -> str:
        """ "running: 120 of 366 steps, 14 steps/s"; the state is that of the run that is least far."""
        runs = list(self.runs.order_by("pk"))
        open_runs = [run for run in runs if not run.is_over]
        totals = self.runs.aggregate(total=Sum("step_count"), started=Min("started_at"))
        done = self.runs.done_steps()
        elapsed = time.time() - totals["started"].timestamp() if totals["started"] else 0
        rate = f", {done / elapsed:.0f} steps/s" if elapsed > 1 else ""
        return f"{(open_runs or runs)[0].state}: {done:,} of {totals['total']:,} steps{rate}"

    def ask_to_cancel(self, asked: bool = True) -> None:
        """Said on its page until its runs are over; `asked` False: it goes on."""
        self.cancel_requested = asked
        self.save(update_fields=["cancel_requested"])

    @staticmethod
    def budget_fields(
        tokens: int | None = None, cost: float | None = None, seconds: int | None = None
    ) -> dict[str, float | None]:
        """SpendLimits by unit as fields; None is no limit. ValueError for a negative one."""
        SpendLimits(tokens, cost, seconds)
        return {"budget_tokens": tokens, "budget_cost": cost, "budget_seconds": seconds}

    def set_budget(self, **limits: float | None) -> None:
        """Replace the limits on what its model calls may use. One that stopped at its budget is resumed by hand."""
        type(self).objects.filter(pk=self.pk).update(**self.budget_fields(**limits))
