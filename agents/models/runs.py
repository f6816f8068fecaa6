"""Runs of agents over the recorded conversations of a dataset."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Avg, Max, Min, OuterRef, Q, Sum
from django.utils import timezone

from annotations.models import Dataset, Split
from annotations.models.corpus.tallies import Tally
from annotations.models.jobs.worker_leases import Leased
from annotations.shown_progress import ShownProgress, ago_text, counts_text, span_text

TOGETHER = timedelta(milliseconds=200)  # steps of a batch are stored within
# The newest study that a run is of; studies are of a higher wing, which sets it.
study_of: Callable[["Run"], models.Model | None] | None = None
# How long a run waits for a worker and for what, as a text; shards of runs are of that wing too.
waits_for: Callable[["Run"], str] | None = None


class RunTally(Tally):
    """Stored steps of a run, and those of them in which the agent reported an error. Steps without a recorded path are
    not counted: of those a run counts its episodes (`Run.count_episode`)."""

    KEYS = ("run_id",)
    COUNTS = ("done", "failed")

    run = models.ForeignKey("Run", models.DO_NOTHING, related_name="+", db_constraint=False)
    done = models.IntegerField()
    failed = models.IntegerField()

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.done:+}"


MODEL_USER = "dataset__live__user__connection"  # of a live run


class RunQuerySet(models.QuerySet["Run"]):
    def with_progress(self) -> Self:
        """Runs with `done` and `failed`, their stored steps and those in which the agent reported an error."""
        here = {"run": OuterRef("pk")}
        return self.annotate(done=RunTally.total("done", **here), failed=RunTally.total("failed", **here))

    def with_stored(self) -> Self:
        """Runs with `stored`, the number of their steps that are stored."""
        return self.annotate(stored=RunTally.total("done", run=OuterRef("pk")))

    def with_user_of(self, dataset: Dataset) -> Self:
        """Those whose episodes have the same language model as their user, or all have none; where there are none, all
        of the runs."""
        name = dataset.model_user
        same = self.filter(**{MODEL_USER: name}) if name else self.exclude(dataset__live__has_key="user")
        return same if same.exists() else self

    def ended_early(self) -> Self:
        """Those that have failed, or were ended for a reason that is told, as by a limit."""
        return self.filter(Q(state=Run.State.FAILED) | Q(state=Run.State.CANCELLED) & ~Q(error=""))

    def open(self) -> Self:
        """Runs that wait for workers or are under way."""
        return self.filter(state__in=Run.OPEN)

    def of_same_work(self, run: "Run") -> Self:
        """Finished runs on the conversations that a run decides, the newest first."""
        same = {name: getattr(run, name) for name in ("dataset", "split", "limit", "websites")}
        return self.filter(**same, state=Run.State.DONE).order_by("-pk")

    def resumable(self) -> Self:
        """Runs that ended without all of their results."""
        return self.filter(state__in=[Run.State.CANCELLED, Run.State.FAILED, Run.State.DONE_WITH_ERRORS])

    def state(self) -> str:
        """One state for all runs: running while one of them runs, queued while one waits, else the worst state that one
        ended in."""
        states = {run.state for run in self}
        for state in (Run.State.RUNNING, Run.State.QUEUED):
            if state in states:
                return state
        return next((state for state in Run.WORST_FIRST if state in states), Run.State.DONE)

    def unit(self) -> str:
        """What these runs are counted in, steps or episodes: the runs of a study are all of one dataset."""
        return next((run.unit for run in self), "steps")

    def how_far(self) -> tuple[int, int, int]:
        """(done, failed among these, planned) of all runs together; they must be read `with_progress`."""
        return sum(run.done for run in self), sum(run.failed for run in self), sum(run.step_count for run in self)

    def begun_at(self) -> datetime | None:
        return min((run.started_at for run in self if run.started_at), default=None)

    def lately(self, window: timedelta) -> tuple[datetime, float]:
        """(when the window begins, how many seconds of it these runs have been under way), for a window that ends
        now."""
        now = timezone.now()
        since = now - window
        return since, max(1.0, (now - max(self.begun_at() or since, since)).total_seconds())

    def ended_at(self) -> datetime | None:
        return max((run.finished_at for run in self if run.finished_at), default=None)

    def seconds_per_step_of(self, recipes: Collection[str]) -> dict[str, float]:
        """Recipe -> what a recorded step took in its newest run that has some; without those that never ran."""
        means = self.filter(recipe_name__in=recipes)._newest_with_mean().values_list("recipe_name", "mean")
        return {name: mean / 1000 for name, mean in means if mean is not None}

    def newest_paces(self) -> list[tuple[dict[str, Any], float]]:
        """(the stored recipe, what a recorded step took) of the newest run of each recipe that has some."""
        means = self._newest_with_mean().values_list("recipe", "mean")
        return [(recipe, mean / 1000) for recipe, mean in means if mean is not None]

    def _newest_with_mean(self) -> Self:
        """The newest run with recorded steps of each recipe, with `mean`, the milliseconds that one took."""
        ran = self.with_stored().filter(stored__gt=0, dataset__live={})
        newest = list(ran.order_by("recipe_name", "-pk").distinct("recipe_name").values_list("pk", flat=True))
        return self.filter(pk__in=newest).order_by().annotate(mean=Avg("steps__milliseconds"))

    def done_steps(self) -> int:
        """The stored steps of all runs, read from the tally instead of counted."""
        return RunTally.objects.filter(run__in=self.order_by()).aggregate(n=Sum("done"))["n"] or 0


class Run(models.Model):
    """One recipe on one split of a dataset with one seed. Stores the recipe whole, so that it can be repeated."""

    State = Leased.State  # a run goes through the states of its shards

    OPEN = (State.QUEUED, State.RUNNING)
    WORST_FIRST = (State.FAILED, State.CANCELLED, State.DONE_WITH_ERRORS, State.DONE)

    recipe_name = models.CharField(max_length=100)
    recipe = models.JSONField()
    recipe_sha256 = models.CharField(max_length=64)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="runs")
    split = models.CharField(max_length=20, choices=Split.choices, blank=True, help_text="Empty: every split.")
    seed = models.PositiveIntegerField(default=0)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="First conversations only.")
    websites = models.JSONField(default=list, blank=True, help_text="Conversations on these only. Empty: on all.")
    code_revision = models.CharField(max_length=64, blank=True)
    data_sha256 = models.CharField(max_length=64, help_text="Of the conversations it covers.")
    step_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    done: int  # these two where it is read `with_progress`
    failed: int

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.recipe_name} on {self.dataset} · {self.split or 'all splits'} · seed {self.seed}"

    @property
    def is_over(self) -> bool:
        return self.state not in self.OPEN

    @property
    def top_k(self) -> int:
        """How many of the ranked elements the stages after `rank` are given."""
        return self.recipe.get("rank", {}).get("top_k", 50)

    @property
    def decided_together(self) -> int:
        """How many recorded steps are decided at once, at most, which share their time equally; episodes decide one at
        a time."""
        return 1 if self.dataset.is_live else self.recipe.get("batch_size", 1)

    def begin(self) -> None:
        """Mark that a worker has begun; changes nothing where one had before."""
        waiting = type(self).objects.filter(pk=self.pk, state=self.State.QUEUED)
        waiting.update(state=self.State.RUNNING, started_at=timezone.now())

    def locked(self) -> "Run":
        """The run's row, read anew and locked, so that only one caller ends it. Rows that refer to it can still be
        added."""
        return type(self).objects.select_for_update(no_key=True).get(pk=self.pk)

    def finish(self, stored: int, error: str = "") -> None:
        """End the run with so many stored results: done where none is missing, done with errors where some are, failed
        where there is none."""
        missing = self.State.DONE_WITH_ERRORS if stored else self.State.FAILED
        self._end(self.State.DONE if stored == self.step_count else missing, error)

    def cancel(self, reason: str = "") -> None:
        """End the run before its time. What is stored stays; `queue_again` has the rest decided."""
        self._end(self.State.CANCELLED, reason)

    def _end(self, state: str, error: str) -> None:
        self.state, self.error, self.finished_at = state, error, timezone.now()
        self.save(update_fields=["state", "error", "finished_at"])
        self.trajectories.give_up()

    def queue_again(self) -> None:
        """Let the run wait for workers again; they decide only steps without a result."""
        self.state, self.error, self.finished_at = self.State.QUEUED, "", None
        self.save(update_fields=["state", "error", "finished_at"])
        self.trajectories.wait_again()

    def progress(self) -> ShownProgress:
        """How far the run is, by what is stored; the run must be read `with_progress`. Workers and time left are on its
        study's page."""
        fields = {
            "headline": counts_text(self.done, self.step_count, self.unit),
            "detail": self._when(),
            "state": self.state,
            "state_label": self.get_state_display(),
        }
        total = self.step_count or 1
        under_way = 0.02 if self.state == self.State.RUNNING else 0.0
        bar = ((self.done - self.failed) / total, self.failed / total, under_way)
        return ShownProgress(not self.is_over, f"{self.state} {self.done}", fields, bar)

    def _when(self) -> str:
        if self.finished_at and self.started_at:
            return f"in {span_text((self.finished_at - self.started_at).total_seconds())}, {ago_text(self.finished_at)}"
        return f"started {ago_text(self.started_at)}" if self.started_at else "not started"

    @property
    def unit(self) -> str:
        """What the run's results are counted in: steps, or whole episodes of live goals."""
        return "episodes" if self.dataset.is_live else "steps"

    def newest_study(self) -> models.Model | None:
        """The study that its pages lead to, None where it is of none."""
        return study_of(self) if study_of else None

    def count_episode(self, lost: bool) -> None:
        """Count an episode that has ended; `lost`: without an outcome."""
        RunTally.objects.create(run=self, done=1, failed=int(lost))

    def counts(self) -> dict[str, int]:
        """How many conversations, turns and steps the run has decided."""
        return {
            "conversations": self.trajectories.filter(steps__isnull=False).distinct().count(),
            "turns": self.steps.values("step__turn").distinct().count(),
            "steps": self.steps.count(),
        }

    def taken_per_task(self) -> tuple[float | None, float | None]:
        """Mean seconds of deciding, without what pages took, and mean money of a task; None for what no step tells, as
        money where what was asked has no prices."""
        tasks = self.trajectories.count()
        told = self.steps.aggregate(time=Sum("milliseconds"), cost=Sum("cost"))
        per_task = [(told[name] or 0.0) / tasks if tasks else 0.0 for name in ("time", "cost")]
        return per_task[0] / 1000 or None, per_task[1] or None

    def loading_seconds(self) -> float | None:
        """The seconds from the run's beginning until it decided its first batch: loading models, embedding what is
        recalled. None where that is not known."""
        begun = self.started_at
        first = self.steps.order_by("created_at").values_list("created_at", flat=True).first() if begun else None
        if begun is None or first is None or first < begun:  # resumed since
            return None
        batch = self.steps.filter(created_at__lt=first + TOGETHER).aggregate(total=Sum("milliseconds"))["total"] or 0
        return max(0.0, (first - begun).total_seconds() - batch / 1000)

    def pace_of_episodes(self) -> tuple[float, float] | None:
        """Seconds and money of an episode of a live run on average, from its first page to its last action."""
        episodes = self.trajectories.count()
        if not episodes:
            return None
        told = self.steps.aggregate(began=Min("happened_at"), ended=Max("happened_at"), cost=Sum("cost"))
        spent = (told["ended"] - told["began"]).total_seconds() if told["began"] else 0.0
        return spent / episodes, (told["cost"] or 0.0) / episodes
