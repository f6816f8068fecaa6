"""Lays stored scores out as the tables of a study's page: recipes × metrics with intervals, and their interval plot."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from math import ceil, floor

from agents.environments.task_sets import TALKING
from agents.models import Run, Trajectory
from agents.recipes.differences import changed_settings
from agents.stages.registry import planner_named, ranks_only
from annotations.text.amounts import amount
from evaluation.metrics import WEBLINX_LABELS, label
from evaluation.metrics.apart import caution, tied, times_as_many
from evaluation.metrics.ood import OOD, OOD_SPLITS, IntervalValue, ood_means
from evaluation.models import Score

MAIN = ("element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success")
WEBLINX = tuple(WEBLINX_LABELS)
RANKING = ("recall@1", "recall@5", "recall@10", "recall@50", "mrr")
RANKED = ("element_accuracy",)  # of agents that only rank
LIVE = ("episode_success", "episode_reward")
OF_PEOPLE = ("human_share", "user_leaks", "user_agrees")
LIVE_TALKS = ("live_turn_success", "episode_success", "recovery")
PLOTTED = {
    MAIN: "turn_success",
    WEBLINX: "overall",
    RANKED: "element_accuracy",
    LIVE: "episode_success",
    LIVE_TALKS: "live_turn_success",
}  # the metric whose intervals are drawn at first
FULL_NAMES = {
    "element_accuracy": "Element accuracy",
    "operation_f1": "Operation F1",
    "step_success": "Step success rate",
    "turn_success": "Turn success rate",
    "conversation_success": "Conversation success rate",
    "mrr": "Mean reciprocal rank of the gold element",
    "episode_success": "Episodes that reached their goal, with the full reward",
    "episode_reward": "Mean reward of an episode, without the discount for time",
    "live_turn_success": "Turns after which the website was in the state that was asked for",
    "recovery": "Such turns among those in which the website told a problem",
    "user_leaks": "Answers of the user, a language model, that told what no question had asked for",
    "said_unasked": "Turns that leave something out whose instruction, in that user's words, told it already",
    "user_content": "Turns of which that user says that it got what it asked for",
    "user_agrees": "Turns of which that user says what the website's state says",
    "human_share": "Share of an episode's steps that a person did in the agent's place",
    "overall": "Mean turn score: what its intent asks for, 0 where the intent is wrong",
    "intent_match": "Intent match",
    "element_group": "Intersection over union of the boxes, over turns that act on an element",
    "text_group": "chrF or URLF, over turns that write a text or an address",
}
PLOT_WIDTH = 190  # pixels, of which PLOT_MARGIN on each side are for the marks and their numbers
PLOT_MARGIN = 11  # half of "100"


@dataclass(frozen=True)
class Column:
    metric: str
    label: str
    full_name: str
    grouping: str  # what the mean is taken over


@dataclass(frozen=True)
class IntervalPlot:
    """An interval in pixels."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class RunRow:
    run: Run
    label: str
    settings: dict[str, tuple]  # those that differ from the named recipe
    cells: list[IntervalValue | None]
    conversations: int = 0  # that it is drawn from
    plot: IntervalPlot | None = None
    band: tuple[float, float] | None = None  # of what cannot be told from the best, all their intervals: from, how wide

    @property
    def ranks_only(self) -> bool:
        return ranks_only(self.run.recipe)


@dataclass
class ScoreTable:
    """The runs on one split; `n` says how many conversations, turns or steps the numbers are means over."""

    split: str
    columns: list[Column]
    rows: list[RunRow] = field(default_factory=list)
    ticks: list[tuple[float, int]] = field(default_factory=list)  # pixel, percent
    sizes: list[str] = field(default_factory=list)
    tied: list[RunRow] = field(default_factory=list)  # cannot be told from the best, the first of them, by intervals
    more: float | None = None  # with so many times as much data the first two of them would be told apart

    @property
    def times(self) -> str:
        """`more` as a text: "1.4", "8"; "" where little more data would do, as for intervals that only just touch."""
        return (
            ""
            if self.more is None or self.more < 1.05
            else f"{self.more:.1f}"
            if self.more < 3
            else f"{self.more:,.0f}"
        )

    @property
    def caution(self) -> str:
        """A warning about the table's intervals; "" where there are enough conversations."""
        widthless = any(cell and cell.low == cell.high for row in self.rows for cell in row.cells)
        return caution(min((row.conversations for row in self.rows if row.conversations), default=None), widthless)

    def x_of(self, value: float) -> float:
        """Where a value lies on the axis, in pixels."""
        (first, at), (second, then) = self.ticks[:2]
        return round(first + (100 * value - at) / (then - at) * (second - first), 1)

    @property
    def grouping(self) -> str:
        """What all numbers are means over; "" when the columns differ and each says its own."""
        groupings = {column.grouping for column in self.columns}
        return groupings.pop() if len(groupings) == 1 else ""


def main_metrics(runs: Iterable[Run]) -> tuple[str, ...]:
    """The columns of the main table: those of WebLINX where every run that plans writes its action strings, those of
    episodes where runs are live."""
    runs = list(runs)
    if runs and all(run.dataset.is_live for run in runs):
        return LIVE_TALKS if all(run.dataset.live["environment"] in TALKING for run in runs) else LIVE
    if runs and all(ranks_only(run.recipe) for run in runs):
        return RANKED
    return WEBLINX if decide_turns(planners(runs)) else MAIN


def with_people(metrics: tuple[str, ...], scores: Iterable[Score]) -> tuple[str, ...]:
    """The columns, with what tells of people who acted and of users that are language models, where there were any."""
    measured = {score.metric for score in scores}
    return (*metrics, *(name for name in OF_PEOPLE if name in measured))


def planners(runs: Iterable[Run]) -> set[str]:
    """The kinds of planners in the runs' recipes; those that only rank are not counted."""
    return {run.recipe.get("plan", {}).get("kind", "") for run in runs if not ranks_only(run.recipe)}


def decide_turns(planners: Collection[str]) -> bool:
    """Whether there are planners of these kinds, and all decide WebLINX turns."""
    return {kind is not None and kind.of_turns for kind in map(planner_named, planners)} == {True}


def tables(
    runs: Iterable[Run],
    scores: Iterable[Score],
    metrics: tuple[str, ...],
    plotted: str,
    width: int = PLOT_WIDTH,
    beside: Collection[float] = (),
) -> list[ScoreTable]:
    """A table per split of runs that have scores, and one of `ood`; rows by the plotted metric, best first. `beside`:
    other values that must lie on the axis."""
    headline: dict[tuple[int, str], Score] = {(score.run_id, score.metric): score for score in scores if score.headline}
    several_seeds = len({run.seed for run in runs}) > 1
    same = {"preset"} if len({run.recipe.get("preset") for run in runs}) == 1 else set()  # tells no two apart
    found: dict[str, ScoreTable] = {}
    of_run = Trajectory.objects.counts(runs)
    for run in runs:
        cells: list[IntervalValue | None] = [headline.get((run.pk, metric)) for metric in metrics]
        if not any(cells):
            continue
        table = found.setdefault(run.split, ScoreTable(run.split or "all splits", _columns(metrics, cells)))
        name = f"{run.recipe_name} · seed {run.seed}" if several_seeds else run.recipe_name
        settings = {key: values for key, values in changed_settings(run.recipe).items() if key not in same}
        table.rows.append(RunRow(run, name, settings, cells, of_run.get(run.pk, 0)))
    together = [found[split] for split in sorted(found)] + _ood_table(found, metrics)
    column = metrics.index(plotted) if plotted in metrics else None
    shown = [cell for table in together for row in table.rows if column is not None and (cell := row.cells[column])]
    for table in together:
        _sort_and_plot(table, column, width, [(one.low, one.high) for one in shown], beside)
        table.sizes = _sizes(table)
    return together


def _ood_table(tables: dict[str, ScoreTable], metrics: tuple[str, ...]) -> list[ScoreTable]:
    """A table of the means over WebLINX's out-of-domain splits, of the recipes that ran on all four."""
    by_recipe: dict[tuple, dict[str, RunRow]] = {}
    for split, table in tables.items():
        for row in table.rows:
            same = (row.run.recipe_sha256, row.run.seed, row.run.limit, *row.run.websites)
            by_recipe.setdefault(same, {})[split] = row
    rows = []
    for of_recipe in by_recipe.values():
        by_split = {split: dict(zip(metrics, row.cells, strict=True)) for split, row in of_recipe.items()}
        if means := ood_means({split: {m: cell for m, cell in row.items() if cell} for split, row in by_split.items()}):
            first = of_recipe[OOD_SPLITS[0]]
            rows.append(RunRow(first.run, first.label, first.settings, [means.get(metric) for metric in metrics]))
    name = f"{OOD}, the mean of {', '.join(OOD_SPLITS)}"
    return [ScoreTable(name, _columns(metrics, rows[0].cells), rows)] if rows else []


def _columns(metrics: tuple[str, ...], cells: list[IntervalValue | None]) -> list[Column]:
    columns = []
    for metric, cell in zip(metrics, cells, strict=True):
        short = label(metric)
        columns.append(Column(metric, short, FULL_NAMES.get(metric, short), cell.grouping if cell else ""))
    return columns


def _sizes(table: ScoreTable) -> list[str]:
    """The sizes of a table in words, as "34 conversations", "191 turns": read off the scores, which keep what they are
    means over."""
    counts = {cell.grouping: cell.n for row in table.rows for cell in row.cells if cell}
    units = [unit for unit in ("website", "conversation", "turn", "step") if unit in counts]
    return [amount(counts[unit], unit) for unit in units]


def _sort_and_plot(
    table: ScoreTable,
    column: int | None,
    width: int,
    shown: list[tuple[float, float]],
    beside: Collection[float],
) -> None:
    """Sort the rows by a column, best first, and give each its interval in pixels. `shown`: the plotted intervals of
    all tables, which have one axis so that they can be compared."""
    if column is None or not shown:
        return
    table.rows.sort(key=lambda row: -(cell.value if (cell := row.cells[column]) else -1.0))
    best_first = [row.cells[column] for row in table.rows]
    alike = tied(best_first)
    if alike and (first := best_first[0]) and (second := best_first[alike[1]]):
        table.more = times_as_many(first, second)
    low = floor(min(*(least for least, _ in shown), *beside, 1.0) * 10) / 10
    high = max(ceil(max(*(most for _, most in shown), *beside, 0.0) * 10) / 10, low + 0.1)

    def pixel(value: float) -> float:
        return round(PLOT_MARGIN + (value - low) / (high - low) * (width - 2 * PLOT_MARGIN), 1)

    step = 0.1 if high - low <= 0.5 else 0.2
    values = [low + place * step for place in range(int((high - low) / step + 1.001))]
    table.ticks = [(pixel(value), round(100 * value)) for value in values]
    table.rows = [replace(row, plot=_plot(row.cells[column], pixel)) for row in table.rows]
    table.tied = _on_one_band([table.rows[place] for place in alike])
    for place, row in zip(alike, table.tied, strict=True):
        table.rows[place] = row


def _on_one_band(tied: list[RunRow]) -> list[RunRow]:
    """The rows, each with the band that covers all their intervals."""
    plots = [row.plot for row in tied if row.plot]
    if not plots:
        return tied
    low = min(plot.low for plot in plots)
    return [replace(row, band=(low, max(plot.high for plot in plots) - low)) for row in tied]


def _plot(score: IntervalValue | None, pixel) -> IntervalPlot | None:
    return IntervalPlot(pixel(score.low), pixel(score.value), pixel(score.high)) if score else None
