"""The scores of a recipe, for its page: its last run on each split of each dataset, and its relatives on the same
steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agents.models import Run
from agents.recipes import published
from agents.recipes.published import DATA_WORDS, PublishedCell
from annotations.access import rules
from annotations.models import Dataset
from annotations.models.accounts.projects import Account
from evaluation.models import Score, Study
from evaluation.scores import tables
from evaluation.scores.out_of_reach import OutOfReach
from evaluation.scores.tables import IntervalValue, RunRow, ScoreTable
from evaluation.scores.taken import TakenSteps

PLOT_WIDTH = 190  # pixels
DATASETS = 4  # that are shown: those of the last runs


@dataclass(frozen=True)
class VariantRow:
    """A recipe's last run on the same conversations; means over its steps, None where nothing was measured. `seconds`:
    ranking as where pages were new (`taken.py`)."""

    run: Run
    score: IntervalValue | None
    tokens: float | None
    seconds: float | None


@dataclass(frozen=True)
class PaperMark:
    """A number that a paper prints for the recipe, of the same metric on a split of the same name."""

    cell: PublishedCell
    x: float  # pixels

    @property
    def data(self) -> str:
        return DATA_WORDS[self.cell.data]


@dataclass(frozen=True)
class ReachedOn:
    """What a recipe has reached on a dataset. `splits`: the table and the row of each split, on one axis. `printed`:
    split -> the number of a paper."""

    dataset: Dataset
    plotted_as: str  # the metric that is drawn
    splits: list[tuple[ScoreTable, RunRow]]
    printed: dict[str, PublishedCell]
    out_of_reach: list[OutOfReach]
    width: int = PLOT_WIDTH

    @property
    def papers(self) -> list[str]:
        """Where the numbers of papers stand that are drawn, and what they were measured on."""
        drawn = [mark for *_, mark in self.plotted() if mark]
        return list(dict.fromkeys(f"{mark.cell.label}, on {mark.data}" for mark in drawn))

    @property
    def metric(self) -> str:
        return tables.FULL_NAMES[self.plotted_as]

    def plotted(self) -> list[tuple[ScoreTable, RunRow, IntervalValue | None, PaperMark | None]]:
        """The splits, each with its row and the value that is drawn; None where the row lacks it. Beside it what a
        paper prints."""
        found = []
        for table, row in self.splits:
            names = [column.metric for column in table.columns]
            cell = row.cells[names.index(self.plotted_as)] if self.plotted_as in names else None
            printed = self.printed.get(row.run.split)
            mark = PaperMark(printed, table.x_of(printed.value)) if printed and table.ticks else None
            found.append((table, row, cell, mark))
        return found

    @property
    def best(self) -> float:
        """The best value of a split; below all others where none has one."""
        return max((cell.value for *_, cell, _ in self.plotted() if cell), default=-1.0)


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
    return RecipeRuns(user, name).scores(relatives)


class RecipeRuns:
    """The runs of a recipe that a user may see, and those of others beside them."""

    def __init__(self, user: Account, name: str) -> None:
        done = Run.objects.filter(state=Run.State.DONE)
        self.visible = rules.visible(user, done).select_related("dataset").order_by("-pk")
        self.name = name

    def scores(self, relatives: Sequence[str]) -> RecipeScores | None:
        scored = self.visible.filter(recipe_name=self.name, scores__headline=True)
        recorded = scored.filter(dataset__live={})
        runs = recorded if recorded.exists() else scored  # of live goals only where there is nothing else
        latest = sorted(runs.order_by("dataset", "-pk").distinct("dataset"), key=lambda run: -run.pk)[:DATASETS]
        reached = sorted(((self._reached(run), run) for run in latest), key=lambda pair: -pair[0].best)
        if not reached:
            return None
        best, newest = reached[0]
        variants = self._variants(newest, [self.name, *relatives], best.plotted_as)
        return RecipeScores([one for one, _ in reached], variants)

    def _reached(self, run: Run) -> ReachedOn:
        """What the recipe has reached on the dataset of a run."""
        own = self.visible.filter(recipe_name=self.name, dataset=run.dataset)
        runs = list(own.order_by("split", "-pk").distinct("split"))
        metrics = tables.main_metrics(runs)
        plotted = tables.PLOTTED[metrics]
        scores = list(Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=runs))
        printed: dict[str, PublishedCell] = {}
        for cell in published.of_recipe(self.name):
            if cell.metric == plotted:
                printed.setdefault(cell.split, cell)  # the first row of its first table
        beside = [cell.value for split, cell in printed.items() if split in {run.split for run in runs}]
        found = tables.tables(runs, scores, metrics, plotted, PLOT_WIDTH, beside)
        rows = [(one, one.rows[0]) for one in found]
        return ReachedOn(run.dataset, plotted, rows, printed, OutOfReach.of(runs, scores))

    def _variants(self, run: Run, names: Sequence[str], metric: str) -> list[VariantRow]:
        """The last runs of these recipes on the conversations of a run, the best first; empty where there is one
        alone."""
        of_same = {"dataset": run.dataset, "split": run.split, "data_sha256": run.data_sha256}
        same = self.visible.filter(**of_same, recipe_name__in=names)
        latest = list(same.order_by("recipe_name", "-pk").distinct("recipe_name"))
        scores = Score.objects.headline(Study.Preset.CORRECTED).filter(run__in=latest, metric=metric)
        of_run, taken = {score.run_id: score for score in scores}, TakenSteps(latest)
        tokens, seconds = taken.tokens(), taken.seconds()
        rows = [VariantRow(one, of_run.get(one.pk), tokens.get(one.pk), seconds.get(one.pk)) for one in latest]
        best_first = sorted(rows, key=lambda row: -(row.score.value if row.score else -1.0))
        return best_first if len(latest) > 1 else []
