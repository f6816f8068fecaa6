"""Tables of the papers, cell by cell: the printed number, ours, or why there is none of ours yet."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Count, Q, QuerySet

from agents.cookbook.deviations import told_at_numbers
from agents.cookbook.named_models import is_as_named, names_nobody
from agents.cookbook.starters import is_mixture, missing_of, stood_in
from agents.llm.embedded import is_embedded
from agents.models import Run
from agents.recipes import differences, literature, published
from agents.recipes.literature import RECIPES, Recipe
from agents.recipes.published import PrintedRow
from agents.stages.registry import planner_of
from agents.training.prepare.preparing import Offer, Preparing
from annotations.datasets import READERS
from annotations.models import Dataset
from evaluation.metrics import label
from evaluation.models import Score, Study

UNITS = {"percent": "", "fraction": "", "dollars": "$", "seconds": "s", "points": "points", "count": ""}
SITES = {"shopping", "cms", "reddit", "gitlab", "map", "all", "figure_6"}  # of WebArena, which has no splits
SECONDS = "seconds_per_step_A5000"
# metrics that are no scores but what a run took, with the unit of ours
MEASURED = {SECONDS: "s", "seconds_per_task": "s", "dollars_per_task": "$"}
UNMEASURED = {
    SECONDS: "its steps do not tell how long they took",
    "seconds_per_task": "its steps do not tell how long they took",
    "dollars_per_task": "its model has no prices, so that no money was counted",
}
NO_SPLIT = "needs conversations of "  # and the split
OTHERS = "run with other settings only"
UNKNOWN = "which model answered is not recorded, as the recipe names none"
ALL = "all"  # of WebArena's sites: a run on every split


@dataclass(frozen=True)
class PaperCell:
    """One cell of a table; values are fractions where the paper prints shares. `why` says what a number of ours would
    need."""

    printed: float | None
    unit: str
    score: Score | None = None
    measured: float | None = None  # what our run took, in `measured_unit`
    measured_unit: str = ""
    run: Run | None = None
    why: str = ""
    differs: dict[str, str] = field(default_factory=dict)  # what makes our run another agent, in brief -> in a sentence

    @property
    def printed_text(self) -> str:
        if self.printed is None:
            return ""
        if self.unit == "fraction":
            return f"{100 * self.printed:.1f}"
        if self.unit == "percent":
            return f"{self.printed:.2f}".removesuffix("0")
        return f"{self.printed:g} {UNITS.get(self.unit, self.unit)}".strip()

    @property
    def measured_text(self) -> str:
        return "" if self.measured is None else f"{self.measured:.3g} {self.measured_unit}"


@dataclass
class PaperRow:
    """One system of a table, and our recipe for it; "" where there is none."""

    system: str
    model: str
    recipe: str
    settings: dict[str, str] = field(default_factory=dict)  # in which it differs from the recipe
    cells: list[PaperCell] = field(default_factory=list)
    stands_in: list[str] = field(default_factory=list)  # what small models stand in for in our runs here
    coming: Offer | None = None  # what is being made, where nothing else is lacking for a run

    @property
    def whys(self) -> list[str]:
        """The reasons for missing numbers, each once; where a reason has a colon, how to mend it stands after that."""
        found = list(dict.fromkeys(cell.why for cell in self.cells if cell.why and cell.printed is not None))
        absent = [why.removeprefix(NO_SPLIT) for why in found if why.startswith(NO_SPLIT)]
        said = [NO_SPLIT + ", ".join(absent)] if absent else []
        return said + [why for why in found if not why.startswith(NO_SPLIT)]


@dataclass
class PaperTable:
    """A table with its columns as (split, metric), in the order of the paper."""

    source: str
    table: str
    caption: str
    data: str
    dataset: Dataset | None
    columns: list[tuple[str, str]]
    rows: list[PaperRow]

    @property
    def slug(self) -> str:
        return slug_of(self.source, self.table)

    @property
    def title(self) -> str:
        return title_of(self.source, self.table)

    @property
    def data_words(self) -> str:
        return published.DATA_WORDS[self.data]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """(split, number of its columns) for the first line of the head."""
        found: dict[str, int] = {}
        for split, _ in self.columns:
            found[split] = found.get(split, 0) + 1
        return list(found.items())

    @property
    def metric_labels(self) -> list[str]:
        return [metric_label(metric) for _, metric in self.columns]

    @property
    def counts(self) -> tuple[int, int]:
        """(cells that we have, cells that are printed)."""
        cells = [cell for row in self.rows for cell in row.cells if cell.printed is not None]
        return sum(cell.run is not None for cell in cells), len(cells)


def slug_of(source: str, table: str) -> str:
    return f"{source}-{table}".lower().replace(".", "-")


def title_of(source: str, table: str) -> str:
    source = published.SOURCE_WORDS.get(source, source)
    return f"{source}, Table {table}" if table != "text" else f"{source}, in the text"


def metric_label(metric: str) -> str:
    known = published.METRIC_LABELS | {SECONDS: "Seconds", "seconds_per_task": "Seconds", "dollars_per_task": "Dollars"}
    return known.get(metric) or label(metric).replace("_", " ").capitalize()


def key_of(slug: str) -> tuple[str, str] | None:
    """The (source, table) that the last part of a page's address names; None where there is no such table."""
    return next((key for key in published.TABLES if slug_of(*key) == slug), None)


def datasets_for(key: tuple[str, str], datasets: QuerySet[Dataset]) -> list[Dataset]:
    """The datasets, newest first; those in the format of the paper's data stand before the others."""
    data = published.data_of(*key)
    return sorted(datasets.order_by("-id"), key=lambda dataset: dataset.source_format != data)


def paper_table(
    key: tuple[str, str],
    runs: QuerySet[Run],
    datasets: QuerySet[Dataset],
    dataset: Dataset | None,
    preset: str,
    making: Preparing | None = None,
) -> PaperTable:
    """The table with the newest finished run of each recipe and split among `runs` on `dataset`.

    `dataset` None: of those in the format of the paper's data the one with most of the table's splits, the newest of
    several. Another one shows the paper's layout with our own data, for which no printed number is a target; its caller
    says so. `making`: what is being made for recipes.
    """
    data = published.data_of(*key)
    printed = published.rows_of(*key)
    there = dict.fromkeys(place for row in printed for place in row.values)
    splits, metrics = (dict.fromkeys(place[part] for place in there) for part in (0, 1))
    columns = [(split, metric) for split in splits for metric in metrics if (split, metric) in there]
    if dataset is None:
        held = Count("conversations__split", filter=Q(conversations__split__in=splits), distinct=True)
        fitting = datasets.filter(source_format=data).annotate(held=held)
        dataset = fitting.order_by("-held", "-id").first()
    table = PaperTable(*key, published.TABLES[key], data, dataset, columns, [])
    filling = _Filling(runs, dataset, data, preset, printed, making)
    table.rows = [filling.row(row, columns) for row in printed]
    return table


class _Filling:
    """Reads at once all runs and scores from which the cells of one table are filled."""

    def __init__(
        self,
        runs: QuerySet[Run],
        dataset: Dataset | None,
        data: str,
        preset: str,
        printed: Iterable[PrintedRow],
        making: Preparing | None,
    ) -> None:
        self.dataset, self.data = dataset, data
        self.newest: dict[tuple[str, str], list[Run]] = {}  # of each mixture one, the newest first
        self.scores: dict[tuple[int, str], Score] = {}
        self.answered: dict[int, set[str]] = {}
        self.splits: set[str] = set()
        wanted = {_key(row): literature.override(RECIPES[row.recipe], row.settings) for row in printed if row.recipe}
        self.lacking = dict(zip(wanted, missing_of(wanted.values()), strict=True))
        self.coming = {key: making.coming(one, self.lacking[key]) for key, one in wanted.items()} if making else {}
        self.first: dict[tuple[str, frozenset[tuple[str, str]]], str] = {}  # the model of each agent's first row
        for row in printed:
            self.first.setdefault(_key(row), row.model)
        recipes = {name for name, _ in wanted}
        if dataset is None:
            return
        self.splits = {split for split, _ in dataset.split_counts()}
        done = runs.filter(dataset=dataset, recipe_name__in=recipes, state=Run.State.DONE, limit=None, websites=[])
        mixtures = done.order_by("recipe_sha256", "split", "-id").distinct("recipe_sha256", "split")
        for run in sorted(mixtures, key=lambda one: -one.pk):
            self.newest.setdefault((run.recipe_name, run.split), []).append(run)
        every = [run for found in self.newest.values() for run in found]
        for score in Score.objects.headline(preset).filter(run__in=every):
            self.scores[score.run_id, score.metric] = score

    def row(self, printed: PrintedRow, columns: Iterable[tuple[str, str]]) -> PaperRow:
        by_text = f"{printed.planner}, by the paper's text" if printed.planner and not printed.model else ""
        row = PaperRow(printed.system, printed.model or by_text, printed.recipe, printed.settings)
        row.coming = self.coming.get(_key(printed))
        meant = literature.override(RECIPES[printed.recipe], printed.settings) if printed.recipe else None
        splits = dict.fromkeys(split for split, _ in columns)
        runs = {split: self._run(printed, split) for split in splits}
        for split, metric in columns:
            value, unit = printed.values.get((split, metric), (None, ""))
            row.cells.append(self._cell(printed, runs[split], split, metric, value, unit))
        ran = {cell.run for cell in row.cells if cell.run}
        if meant:
            said = [words for run in runs.values() if run in ran for words in self._said(meant, run)]
            row.stands_in = list(dict.fromkeys(said))
        return row

    def _run(self, printed: PrintedRow, split: str) -> Run | None:
        found = self._runs(printed.recipe, split)
        return next((run for run in found if self._is_of(run, printed, split)), None)

    def _is_of(self, run: Run, printed: PrintedRow, split: str) -> bool:
        """Whether a run stands in this row, and in no other of those that differ by the planner alone: one whose recipe
        names no model of an endpoint in that of the model that answered, one with weights that stand in for several in
        the first."""
        if not is_as_printed(run.recipe, printed, split, answered := self._answered(run)):
            return False
        own = literature.from_dict(run.recipe)
        if names_nobody(own):
            return bool(answered)
        named = own.plan.model and not is_embedded(own.plan.model)
        return bool(named) or not planner_of(own).asks or printed.model == self.first[_key(printed)]

    def _answered(self, run: Run) -> set[str]:
        """The models that answered a run; looked up once, and only where its recipe names none."""
        if run.pk not in self.answered:
            stored = run.recipe.get("plan", {})
            is_named = stored.get("model") or stored.get("backend") != "endpoint"
            self.answered[run.pk] = set() if is_named else run.steps.answered_by()
        return self.answered[run.pk]

    def _runs(self, recipe: str, split: str) -> list[Run]:
        found = self.newest.get((recipe, split), [])
        return found or (self.newest.get((recipe, ""), []) if split == ALL else [])

    def _cell(
        self, printed: PrintedRow, run: Run | None, split: str, metric: str, value: float | None, unit: str
    ) -> PaperCell:
        if run is not None and metric in MEASURED:
            in_step = metric == SECONDS
            measured = run.steps.mean_seconds() if in_step else run.taken_per_task()[metric == "dollars_per_task"]
            why = "" if measured is not None else UNMEASURED[metric]
            cell = PaperCell(value, unit, measured=measured, measured_unit=MEASURED[metric], run=run, why=why)
            return replace(cell, differs=told_at_numbers(run.recipe))
        if run is not None and (score := self.scores.get((run.pk, metric))) is not None:
            return PaperCell(value, unit, score, run=run, differs=told_at_numbers(run.recipe))
        return PaperCell(value, unit, why=self._why(printed, split, run))

    def _why(self, printed: PrintedRow, split: str, run: Run | None) -> str:
        """The first thing that is lacking for a number of ours."""
        if not printed.recipe:
            return printed.why or "no recipe here has these settings"
        if self.dataset is None:
            unread = "" if self.data in READERS else ", which no format here reads; goals of your own can be chosen"
            return f"needs {published.DATA_WORDS[self.data]} data{unread}"
        if split and split not in ("ood", ALL, *self.splits):
            return f"needs the site {split}" if split in SITES else f"{NO_SPLIT}{split}"
        if run is not None:
            return "no such score of this run"
        lacking = self.lacking[_key(printed)]
        if found := self._runs(printed.recipe, split):
            return next(filter(None, (self._other_model(one, printed, split) for one in found)), OTHERS)
        if coming := self.coming.get(_key(printed)):
            return coming.running_text
        return f"needs {lacking[0]}" if lacking else "not run yet"

    def _other_model(self, run: Run, printed: PrintedRow, split: str) -> str:
        """Why a run that is as printed but for its planner's model, which its recipe does not name, stands in another
        row or in none; "" of other runs."""
        if not is_as_printed(run.recipe, printed, split) or not names_nobody(literature.from_dict(run.recipe)):
            return ""
        answered = self._answered(run)
        return f"run by {' and '.join(sorted(answered))} only" if answered else UNKNOWN

    def _said(self, meant: Recipe, run: Run) -> list[str]:
        """What stood in for the paper's models in a run, as far as its stored recipe tells, and who answered it where
        that does not."""
        answered = [f"{name} answered, as the endpoint says" for name in sorted(self._answered(run))]
        return [one.words for one in stood_in(meant, literature.from_dict(run.recipe))] + answered


def _key(printed: PrintedRow) -> tuple[str, frozenset[tuple[str, str]]]:
    return printed.recipe, frozenset(printed.settings.items())


def is_as_printed(stored: dict[str, Any], printed: PrintedRow, split: str, answered: Collection[str] = ()) -> bool:
    """Whether a run's stored recipe is the one of a table's row: it has the row's settings and models, and is no
    mixture. `answered`: the models that answered it, where it names none."""
    own = literature.readable(stored)
    if own is None:
        return False
    settings = published.settings_on(printed.recipe, split) | printed.settings
    meant = literature.override(literature.with_preset(RECIPES[printed.recipe], own.preset), settings)
    if printed.settings.keys() & differences.changed(own, meant).keys() or is_mixture(own, meant):
        return False
    return is_as_named(own, meant, printed.planner, answered)


def preset_of(text: str) -> str:
    """The preset of this name; for any other text `faithful`, which the papers print."""
    return text if text in Study.Preset.values else str(Study.Preset.FAITHFUL)
