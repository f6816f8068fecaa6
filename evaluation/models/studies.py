"""Studies: planned comparisons of recipes, their progress, and the budget of their model calls."""

import hashlib
import math
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Min, Sum

from agents.models import Run
from agents.models.runs import RunQuerySet
from agents.models.spending import Spending
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import induces_online, planner_of
from annotations.hosts.code import code_revision
from annotations.models import Conversation, Dataset, Project, Split
from annotations.models.accounts.projects import Account
from annotations.shown_progress import ShownProgress
from evaluation.models.shards import Scorer, Shard
from evaluation.models.study_progress import StudyProgress

SHARD_STEPS = 200  # well below five minutes of work for `grounded` on one core
PROMPTED_SHARD_STEPS = 40  # of recipes that ask a model, up to a dozen times a step


class StudyQuerySet(models.QuerySet["Study"]):
    def newest_of(self, run: Run) -> "Study | None":
        return self.filter(runs=run).order_by("-id").first()


class Study(Spending):
    """A planned comparison: recipes × splits × seeds on one dataset."""

    class Preset(models.TextChoices):
        FAITHFUL = "faithful", "faithful (published quirks and groupings)"
        CORRECTED = "corrected", "corrected (all steps count; mean over conversations)"

    project = models.ForeignKey(Project, models.CASCADE, related_name="studies")
    name = models.CharField(max_length=200)
    preset = models.CharField(max_length=10, choices=Preset.choices, help_text="Which metric set is shown first.")
    runs = models.ManyToManyField(Run, related_name="studies")
    coming = models.JSONField(
        default=list, blank=True, help_text="Recipes that are added by themselves as each becomes ready."
    )
    cancel_requested = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    def plan_run(
        self, dataset: Dataset, recipe: Recipe, split: str, seed: int, limit: int | None, websites: Sequence[str] = ()
    ) -> Run:
        """Store a queued run with its trajectories and shards; where `websites` are given, of conversations on these
        alone. ValueError where there are none."""
        conversations = _conversations(dataset, split, limit, websites)
        return self._plan(conversations, recipe, split=split, seed=seed, limit=limit, websites=[*websites])

    def plan_episode(self, goal: Conversation, recipe: Recipe) -> Run:
        """A queued run of one episode towards a live goal."""
        goal.step_count = 1  # as of `_conversations`
        return self._plan([goal], recipe, split=goal.split, limit=1)

    def _plan(self, conversations: Sequence[Conversation], recipe: Recipe, **chosen: Any) -> Run:
        run = Run.objects.create(
            recipe_name=recipe.name,
            recipe=literature.to_dict(recipe),
            recipe_sha256=literature.sha256(recipe),
            dataset=conversations[0].dataset,
            **chosen,
            code_revision=code_revision(),
            created_by=self.created_by,
            data_sha256=hashlib.sha256("".join(c.content_sha256 for c in conversations).encode()).hexdigest(),
            step_count=sum(conversation.step_count for conversation in conversations),
        )
        run.trajectories.plan(run, conversations)
        run.shards.cut(run, conversations, shard_steps(recipe))
        self.runs.add(run)
        return run

    def runs_with_progress(self) -> RunQuerySet:
        """The study's runs, each with `done` and `failed` steps; read once, however often they are gone through."""
        return self.runs.with_progress().select_related("dataset").order_by("id")

    def progress(self, runs: RunQuerySet | None = None) -> ShownProgress:
        """The progress as the study's page shows it. `runs`: those of `runs_with_progress`, where they are read
        already."""
        runs = self.runs_with_progress() if runs is None else runs
        return StudyProgress(runs, self.coming, self.cancel_requested).shown()

    def summary(self) -> str:
        """ "running: 120 of 366 steps, 14 steps/s"; the state is that of the run that is least far."""
        runs = list(self.runs.select_related("dataset").order_by("pk"))
        open_runs = [run for run in runs if not run.is_over]
        totals = self.runs.aggregate(total=Sum("step_count"), started=Min("started_at"))
        done = self.runs.done_steps()
        elapsed = time.time() - totals["started"].timestamp() if totals["started"] else 0
        unit = runs[0].unit
        rate = f", {done / elapsed:{'.0f' if unit == 'steps' else '.1f'}} {unit}/s" if elapsed > 1 else ""
        return f"{(open_runs or runs)[0].state}: {done:,} of {totals['total']:,} {unit}{rate}"

    def ask_to_cancel(self, asked: bool = True) -> None:
        """Show on the study's page that it is being cancelled, until its runs are over; `asked` False takes that
        back. One that grows gets no more recipes then."""
        self.cancel_requested = asked
        self.coming = [] if asked else self.coming
        self.save(update_fields=["cancel_requested", "coming"])

    def expect(self, recipes: Sequence[str]) -> None:
        """Note which recipes are still to come in a study that grows."""
        if self.coming != [*recipes]:
            self.coming = [*recipes]
            self.save(update_fields=["coming"])

    def watch(self, user: Account) -> None:
        """Make the study this person's, and mark its shards as watched."""
        self.created_by = user
        self.save(update_fields=["created_by"])
        self.runs.update(created_by=user)
        Shard.objects.filter(run__studies=self).update(is_watched=True)

    def cancel(self, score: Scorer, reason: str = "") -> None:
        """Stop at the next batch. What is stored stays and is scored; `running.resume_study` runs the rest."""
        self.ask_to_cancel()
        for run in self.runs.open():
            run.shards.cancel_run(run, score, reason)

    def queue_again(self) -> list[Run]:
        """Queue again what was cancelled or has failed; only steps without a result are decided. Returns those runs, of
        which `running.resume_study` tells workers. ValueError when nothing is left."""
        runs = list(self.runs.resumable())
        if not runs:
            raise ValueError("every run of this study is complete or still under way")
        self.ask_to_cancel(False)
        for run in runs:
            with transaction.atomic():
                run.shards.queue_again()
                run.queue_again()
        return runs


def _conversations(dataset: Dataset, split: str, limit: int | None, websites: Sequence[str]) -> list[Conversation]:
    if split and split not in Split.values:
        raise ValueError(f"unknown split {split!r}; choose one of {', '.join(Split.values)}")
    where = f"split {split} of {dataset.name}" if split else dataset.name
    if websites:
        of_split = dataset.conversations.filter(**({"split": split} if split else {}))
        there = of_split.filter(website__name__in=websites).values_list("website__name", flat=True)
        if unknown := sorted({*websites} - {*there}):
            raise ValueError(f"{where} has no website {unknown[0]!r}")
    found = list(dataset.conversations.to_decide(split, websites, episodes=dataset.is_live)[:limit])
    if dataset.is_live:
        for conversation in found:
            conversation.step_count = 1  # an episode counts as one, whatever steps it will take
    if not found:
        raise ValueError(f"{where} has no conversation with steps")
    if any(conversation.extra.get("typed") for conversation in found):
        raise ValueError(f"{where} was typed by people turn by turn: in a study nobody would say what is next")
    return found


def shard_steps(recipe: Recipe) -> float:
    """About how many steps a shard has. Workflows induced online follow from the conversations before, so one worker
    does all of those."""
    if induces_online(recipe):
        return math.inf
    return PROMPTED_SHARD_STEPS if planner_of(recipe).asks else SHARD_STEPS
