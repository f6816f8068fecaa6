"""The scores of a recipe, for its page: its last run on each split, and its relatives on the same steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Avg, F

from agents.models import Run, TrajectoryStep
from annotations.access import rules
from annotations.models import Dataset
from annotations.models.accounts.projects import Account
from evaluation.models import Score, Study
from evaluation.scores import tables
from evaluation.scores.tables import IntervalValue, RunRow, ScoreTable
from evaluation.scores.taken import seconds_a_step

PLOT_WIDTH = 190  # pixels


@dataclass(frozen=True)
class VariantRow:
    """A recipe's last run on the same conversations; means over its steps, None where nothing was measured. `seconds`:
    as if it had ranked its pages first (`taken.py`)."""

    run: Run
    score: IntervalValue | None
    tokens: float | None
    seconds: float | None


@dataclass(frozen=True)
class RecipeScores:
    """`splits`: name and row of each split of a dataset, on one axis. `variants`: the recipe itself and its relatives
    on the conversations of its newest run; empty where no relative ran on them. Pages show it by its `template`, as
    those of recipes know none of this app."""

    template: ClassVar[str] = "evaluation/_recipe_scores.html"

    dataset: Dataset
    metric: str
    splits: list[tuple[ScoreTable, RunRow]]
    variants: list[VariantRow]
    width: int = PLOT_WIDTH

    def plotted(self) -> list[tuple[ScoreTable, RunRow, IntervalValue | None]]:
        """The splits, each with its row and the value that is drawn; None where the row lacks it."""
        found = []
        for table, row in self.splits:
            names = [column.full_name for column in table.columns]
            found.append((table, row, row.cells[names.index(self.metric)] if self.metric in names else None))
        return found


def of_recipe(user: Account, name: str, relatives: Sequence[str]) -> RecipeScores | None:
    """The scores of a recipe; None before a run of it that the user may see has any."""
    visible = rules.visible(user, Run.objects.filter(state=Run.State.DONE)).select_related("dataset").order_by("-pk")
    scored = visible.filter(recipe_name=name, scores__headline=True)
    newest = scored.filter(dataset__live={}).first() or scored.first()  # of recorded data, where there is one
    if newest is None:
        return None
    own = visible.filter(recipe_name=name, dataset=newest.dataset).order_by("split", "-pk").distinct("split")
    runs = list(own)
    metrics = tables.main_metrics(runs)
    plotted = tables.PLOTTED[metrics]
    scores = list(Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=runs))
    found = tables.tables(runs, scores, metrics, plotted, PLOT_WIDTH)
    same = visible.filter(
        dataset=newest.dataset, split=newest.split, data_sha256=newest.data_sha256, recipe_name__in=[name, *relatives]
    )
    latest = list(same.order_by("recipe_name", "-pk").distinct("recipe_name"))
    measured = _measured(latest, plotted)
    variants = [VariantRow(run, *measured[run.pk]) for run in latest]
    best_first = sorted(variants, key=lambda row: -(row.score.value if row.score else -1.0))
    rows = [(one, one.rows[0]) for one in found]
    return RecipeScores(newest.dataset, tables.FULL_NAMES[plotted], rows, best_first if len(latest) > 1 else [])


def _measured(runs: list[Run], metric: str) -> dict[int, tuple[Score | None, float | None, float | None]]:
    """Run -> score, mean tokens of a step, mean seconds of a step."""
    scores = Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=runs, metric=metric)
    of_run = {score.run_id: score for score in scores}
    steps = TrajectoryStep.objects.filter(run__in=runs).order_by().values_list("run")
    tokens = dict(steps.annotate(tokens=Avg(F("prompt_tokens") + F("completion_tokens"))))
    seconds = seconds_a_step(runs)
    return {run.pk: (of_run.get(run.pk), tokens.get(run.pk), seconds.get(run.pk)) for run in runs}
