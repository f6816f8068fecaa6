"""The scores of a recipe, for its page: its last run on each split of each dataset, and its relatives on the same
steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Avg, F

from agents.models import Run, TrajectoryStep
from agents.models.runs import RunQuerySet
from annotations.access import rules
from annotations.models import Dataset
from annotations.models.accounts.projects import Account
from evaluation.models import Score, Study
from evaluation.scores import tables
from evaluation.scores.tables import IntervalValue, RunRow, ScoreTable
from evaluation.scores.taken import seconds_a_step

PLOT_WIDTH = 190  # pixels
DATASETS = 4  # that are shown: those of the last runs


@dataclass(frozen=True)
class VariantRow:
    """A recipe's last run on the same conversations; means over its steps, None where nothing was measured. `seconds`:
    as if it had ranked its pages first (`taken.py`)."""

    run: Run
    score: IntervalValue | None
    tokens: float | None
    seconds: float | None


@dataclass(frozen=True)
class ReachedOn:
    """What a recipe has reached on a dataset. `splits`: the table and the row of each split, on one axis."""

    dataset: Dataset
    plotted_as: str  # the metric that is drawn
    splits: list[tuple[ScoreTable, RunRow]]
    width: int = PLOT_WIDTH

    @property
    def metric(self) -> str:
        return tables.FULL_NAMES[self.plotted_as]

    def plotted(self) -> list[tuple[ScoreTable, RunRow, IntervalValue | None]]:
        """The splits, each with its row and the value that is drawn; None where the row lacks it."""
        found = []
        for table, row in self.splits:
            names = [column.metric for column in table.columns]
            found.append((table, row, row.cells[names.index(self.plotted_as)] if self.plotted_as in names else None))
        return found

    @property
    def best(self) -> float:
        """The best value of a split; below all others where none has one."""
        return max((cell.value for *_, cell in self.plotted() if cell), default=-1.0)


@dataclass(frozen=True)
class RecipeScores:
    """`datasets`: where the recipe has run, the best first. `variants`: the recipe itself and its relatives on the
    conversations of its last run on the first of them; empty where no relative ran on them. Pages show it by its
    `template`, as those of recipes know none of this app."""

    template: ClassVar[str] = "evaluation/_recipe_scores.html"

    datasets: list[ReachedOn]
    variants: list[VariantRow]


def of_recipe(user: Account, name: str, relatives: Sequence[str]) -> RecipeScores | None:
    """The scores of a recipe; None before a run of it that the user may see has any."""
    visible = rules.visible(user, Run.objects.filter(state=Run.State.DONE)).select_related("dataset").order_by("-pk")
    scored = visible.filter(recipe_name=name, scores__headline=True)
    recorded = scored.filter(dataset__live={})
    runs = recorded if recorded.exists() else scored  # of live goals only where there is nothing else
    latest_on = runs.order_by("dataset", "-pk").distinct("dataset")
    shown = sorted(latest_on, key=lambda run: -run.pk)[:DATASETS]
    reached = sorted((_reached(visible, name, run.dataset) for run in shown), key=lambda one: -one.best)
    if not reached:
        return None
    newest = next(run for run in shown if run.dataset_id == reached[0].dataset.pk)
    return RecipeScores(reached, _variants(visible, newest, [name, *relatives], reached[0].plotted_as))


def _reached(visible: RunQuerySet, name: str, dataset: Dataset) -> ReachedOn:
    runs = list(visible.filter(recipe_name=name, dataset=dataset).order_by("split", "-pk").distinct("split"))
    metrics = tables.main_metrics(runs)
    plotted = tables.PLOTTED[metrics]
    scores = list(Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=runs))
    found = tables.tables(runs, scores, metrics, plotted, PLOT_WIDTH)
    return ReachedOn(dataset, plotted, [(one, one.rows[0]) for one in found])


def _variants(visible: RunQuerySet, run: Run, names: Sequence[str], metric: str) -> list[VariantRow]:
    """The last runs of these recipes on the conversations of a run, the best first; empty where there is one alone."""
    same = visible.filter(dataset=run.dataset, split=run.split, data_sha256=run.data_sha256, recipe_name__in=names)
    latest = list(same.order_by("recipe_name", "-pk").distinct("recipe_name"))
    measured = _measured(latest, metric)
    variants = [VariantRow(one, *measured[one.pk]) for one in latest]
    best_first = sorted(variants, key=lambda row: -(row.score.value if row.score else -1.0))
    return best_first if len(latest) > 1 else []


def _measured(runs: list[Run], metric: str) -> dict[int, tuple[Score | None, float | None, float | None]]:
    """Run -> score, mean tokens of a step, mean seconds of a step."""
    scores = Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=runs, metric=metric)
    of_run = {score.run_id: score for score in scores}
    steps = TrajectoryStep.objects.filter(run__in=runs).order_by().values_list("run")
    tokens = dict(steps.annotate(tokens=Avg(F("prompt_tokens") + F("completion_tokens"))))
    seconds = seconds_a_step(runs)
    return {run.pk: (of_run.get(run.pk), tokens.get(run.pk), seconds.get(run.pk)) for run in runs}
