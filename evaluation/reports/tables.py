"""Scores of studies as the papers print them: rows recipes, columns splits × metrics, published numbers beneath."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.cookbook import deviations, sentences
from agents.cookbook.named_models import is_as_named
from agents.cookbook.of_splits import chosen_for
from agents.cookbook.starters import is_mixture
from agents.models import Run
from agents.recipes import literature, published
from agents.recipes.differences import based_on, changed_settings
from agents.runs import writers
from agents.stages.compose.pages import CUT_FIRST
from agents.training.mismatches import unlike_training
from annotations.access.rules import Rights
from annotations.models import Split
from evaluation.metrics import label
from evaluation.metrics.ood import OOD, OOD_SPLITS, IntervalValue, ood_means
from evaluation.models import Score, Study
from evaluation.scores.tables import WEBLINX, decide_turns, planners

AGENT_METRICS = ("element_accuracy", "operation_f1", "step_success", "turn_success")
RANKING_METRICS = ("recall@1", "recall@5", "recall@10", "mrr")
PRESET_WORDS = {
    "faithful": "published quirks and groupings",
    "corrected": "all steps count, mean over conversations",
}
TableCell = tuple[str, str]  # split ("" = all, "ood" = mean of four), metric


@dataclass(frozen=True)
class PublishedRow:
    """The numbers of a recipe in one row of a paper's table, in the cells that have a column here."""

    label: str
    values: dict[TableCell, float]


@dataclass
class RecipeRow:
    """One recipe with one seed; `settings` are those that differ from the named recipe."""

    recipe: str
    settings: dict[str, tuple]
    seed: int
    limit: int | None
    websites: tuple[str, ...] = ()  # only conversations on these
    scores: dict[TableCell, IntervalValue] = field(default_factory=dict)
    mixture: bool = False  # another agent than the packaged one, of which no paper printed numbers
    incomplete: bool = False  # of some run not every step has a result
    differs: list[str] = field(default_factory=list)  # what makes a run another agent than was published, in brief
    recipes: list[dict[str, Any]] = field(default_factory=list)  # as its runs store them
    published: list[PublishedRow] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)  # sentences on models that were trained on other inputs
    of_splits: dict[str, dict[str, str]] = field(default_factory=dict)  # split -> settings published for it alone
    not_asked: dict[str, tuple[int, int]] = field(default_factory=dict)  # split -> steps failed unasked, of how many
    cut: dict[str, tuple[int, int]] = field(default_factory=dict)  # split -> steps that did not read all, of how many
    seconds: dict[str, float] = field(default_factory=dict)  # split -> mean run time of a step
    written: dict[str, Counter[str]] = field(default_factory=dict)  # texts beside the planner's -> by whom, how many
    published_seconds: list[tuple[str, float]] = field(default_factory=list)  # beside ours only

    @property
    def label(self) -> str:
        """The recipe and what was changed in it."""
        return sentences.label(self.recipe, self.settings)


@dataclass(frozen=True)
class ReportDeviation:
    """A known difference between our agents and what they follow, with the recipes of the table that it touches."""

    key: str
    words: str
    recipes: list[str]


@dataclass
class ReportTable:
    """The runs on one dataset, all with the metric set of one preset."""

    dataset: str
    data: str  # the dataset's format
    preset: str
    splits: list[str]
    metrics: list[str]
    rows: list[RecipeRow]
    deviations: list[ReportDeviation] = field(default_factory=list)

    @property
    def groupings(self) -> dict[str, str]:
        """Metric -> what its values are means over (step, turn, conversation)."""
        return {metric: score.grouping for row in self.rows for (_, metric), score in row.scores.items()}

    @property
    def caption(self) -> str:
        """Metric set, groupings and intervals in one sentence, and where published numbers come from."""
        by_grouping: dict[str, list[str]] = {}
        for metric, grouping in self.groupings.items():
            by_grouping.setdefault(grouping, []).append(label(metric))
        means = "; ".join(f"{', '.join(names)}: mean over {grouping}s" for grouping, names in by_grouping.items())
        text = (
            f"Percent. Metric set {self.preset} ({PRESET_WORDS[self.preset]}). {means}. "
            "Brackets: 95 % percentile bootstrap over conversations."
        )
        if OOD in self.splits:
            text += f" {OOD}: unweighted mean of {', '.join(OOD_SPLITS)}; its bracket combines theirs (MOVER)."
        if any(row.incomplete for row in self.rows):
            text += " * Not every step has a result."
        if any(row.published for row in self.rows):
            text += f" Published: as the papers print it, on the authors' {published.DATA_WORDS[self.data]}."
        return text

    @property
    def notes(self) -> list[str]:
        """What readers should know beside the numbers, a sentence each."""
        unasked = [_not_asked(row, self.preset) for row in self.rows if row.not_asked]
        cut = [_cut(row) for row in self.rows if row.cut]
        unlike = dict.fromkeys(said for row in self.rows for said in row.unlike)
        chosen = [_of_splits(row) for row in self.rows if row.of_splits]
        written = dict.fromkeys(said for row in self.rows for said in writers.sentences(row.label, row.written))
        return [*unlike, *written, *chosen, *unasked, *cut, *(_run_time(row) for row in self.rows if row.seconds)]


Sees = Callable[[Run], bool]


def report(studies: Sequence[Study], preset: str = "", sees: Sees = lambda run: True) -> list[ReportTable]:
    """A table for each dataset of the studies' runs that have scores; `preset` defaults to the first study's.

    `sees`: whether the reader may see a run step by step; of other runs only scores are shown, not what their steps
    took.
    """
    preset = preset or studies[0].preset
    runs = Run.objects.filter(studies__in=studies).distinct().select_related("dataset").order_by("id")
    by_dataset: dict[int, list[Run]] = {}
    for run in runs:
        by_dataset.setdefault(run.dataset_id, []).append(run)
    tables = [_DatasetReport(of_dataset, preset, sees).table() for of_dataset in by_dataset.values()]
    return [table for table in tables if table.rows]


class _DatasetReport:
    """Makes the table of the runs on one dataset."""

    def __init__(self, runs: list[Run], preset: str, sees: Sees) -> None:
        self.dataset, self.preset, self.sees = runs[0].dataset, preset, sees
        self.scores: dict[int, dict[str, Score]] = {}
        for score in Score.objects.headline(preset).filter(run__in=runs):
            self.scores.setdefault(score.run_id, {})[score.metric] = score
        self.scored = [run for run in runs if run.pk in self.scores]

    def table(self) -> ReportTable:
        scores, metrics = self.scores, self._metrics()
        splits = sorted({run.split for run in self.scored}, key=_place_of_split)
        table = ReportTable(self.dataset.name, self.dataset.source_format, self.preset, splits, metrics, [])
        rows: dict[tuple, RecipeRow] = {}
        for run in self.scored:
            row = self._row_for(run, rows)
            row.mixture |= _is_mixture(run.recipe, run.split)
            row.recipes.append(run.recipe)
            row.differs = list(dict.fromkeys([*row.differs, *deviations.told_at_numbers(run.recipe)]))
            row.written = writers.together([row.written, writers.RunWriters(run).written()])
            row.incomplete |= run.state != Run.State.DONE
            row.unlike = row.unlike or unlike_training(run.recipe, run.dataset.project_id)
            row.scores |= {
                (run.split, metric): scores[run.pk][metric] for metric in metrics if metric in scores[run.pk]
            }
            if self.sees(run):
                _add_steps(row, run)
        for row in rows.values():
            _add_ood(row)
        if any(split == OOD for row in rows.values() for split, _ in row.scores):
            table.splits.append(OOD)
        for row in rows.values():
            if row.mixture:
                continue  # no paper printed numbers of it
            row.published = _published(row, table)
            if row.seconds:
                row.published_seconds = published.seconds_of(row.recipe, table.data)
        table.rows = list(rows.values())
        table.deviations = self._deviations()
        return table

    def _metrics(self) -> list[str]:
        """The metrics of the table: those of WebLINX where every planner writes action strings, those of rankings where
        no run plans, else those of agents; where none of these is there, whatever is."""
        there = dict.fromkeys(metric for of_run in self.scores.values() for metric in of_run)
        kinds = planners(self.scored)
        wanted = WEBLINX if decide_turns(kinds) else AGENT_METRICS if kinds else RANKING_METRICS
        return [metric for metric in wanted if metric in there] or list(there)

    def _deviations(self) -> list[ReportDeviation]:
        """Each known difference once: those of all recipes in the order in which they are written, then those of single
        kinds."""
        touched: dict[tuple[str, str], list[str]] = {}
        for run in self.scored:
            for deviation in deviations.of_stored(run.recipe):
                names = touched.setdefault((deviation.key, deviation.words), [])
                names += [run.recipe_name] if run.recipe_name not in names else []
        order = {deviation.key: place for place, deviation in enumerate(deviations.DEVIATIONS)}
        found = [ReportDeviation(key, words, names) for (key, words), names in touched.items()]
        return sorted(found, key=lambda deviation: order.get(deviation.key, len(order)))

    def _row_for(self, run: Run, rows: dict[tuple, RecipeRow]) -> RecipeRow:
        """The row of the run's recipe and seed; another one where a split was run again."""
        again = 0
        settings, of_split = self._settings(run)
        same = run.recipe_name, str(settings), run.seed, run.limit, tuple(run.websites)
        while (key := (*same, again)) in rows:
            if all(split != run.split for split, _ in rows[key].scores):
                break
            again += 1
        row = rows.setdefault(key, RecipeRow(run.recipe_name, settings, run.seed, run.limit, tuple(run.websites)))
        if of_split:
            row.of_splits[run.split] = of_split
        return row

    def _settings(self, run: Run) -> tuple[dict[str, tuple], dict[str, str]]:
        """The settings that differ from the named recipe, and, apart from these, those that the paper chose for the
        run's split only."""
        changed, stored = dict(changed_settings(run.recipe)), run.recipe
        of_split = {}
        for name, value in _chosen_for(run.recipe, run.split).items():
            stage, _, field_name = name.partition(".")
            if str(stored.get(stage, {}).get(field_name)) == value:
                changed.pop(name, None)
                of_split[name] = value
        return changed, of_split


def _is_mixture(stored: dict[str, Any], split: str) -> bool:
    """Whether a run's agent is another than the packaged one of its name. One that cannot be read any more is shown as
    it was named."""
    recipe = literature.readable(stored)
    return recipe is not None and is_mixture(recipe, literature.override(based_on(recipe), chosen_for(recipe, split)))


def _chosen_for(stored: dict[str, Any], split: str) -> dict[str, str]:
    """The settings that the paper of a run's recipe chose for its split alone; none where the recipe cannot be read."""
    recipe = literature.readable(stored)
    return chosen_for(recipe, split) if recipe else {}


def _add_steps(row: RecipeRow, run: Run) -> None:
    """Add to the row what the run's steps took, and for how many of them no model was asked."""
    if not_asked := run.steps.not_asked().count():
        row.not_asked[run.split] = not_asked, run.step_count
    if CUT_FIRST in {deviation.key for deviation in deviations.of_stored(run.recipe)}:
        row.cut[run.split] = run.steps.cut().count(), run.step_count
    if (seconds := run.steps.mean_seconds()) is not None:
        row.seconds[run.split] = seconds


def seen_by(rights: Rights) -> Sees:
    """Whether a reader with these rights may see a run step by step, for `report`."""
    return lambda run: rights.sees_gold(run.dataset.project_id, run.split)


def _add_ood(row: RecipeRow) -> None:
    """Give the row the means of its out-of-domain splits, where it has them all."""
    by_split: dict[str, dict[str, IntervalValue]] = {}
    for (split, metric), score in row.scores.items():
        by_split.setdefault(split, {})[metric] = score
    row.scores |= {(OOD, metric): mean for metric, mean in ood_means(by_split).items()}


def _published(row: RecipeRow, table: ReportTable) -> list[PublishedRow]:
    found: dict[str, dict[TableCell, float]] = {}
    for cell in published.of_recipe(row.recipe, table.data):
        if cell.split in table.splits and cell.metric in table.metrics and _is_as_named(row, cell.planner):
            found.setdefault(cell.label, {})[cell.split, cell.metric] = cell.value
    return [PublishedRow(label, values) for label, values in found.items()]


def _is_as_named(row: RecipeRow, printed: str) -> bool:
    """Whether the models of a row's runs are those that a printed row names, as far as their recipes can be read."""
    every = [recipe for stored in row.recipes if (recipe := literature.readable(stored))]
    return all(is_as_named(recipe, based_on(recipe), printed) for recipe in every)


def _of_splits(row: RecipeRow) -> str:
    said = (f"{split}: {name}={value}" for split, chosen in row.of_splits.items() for name, value in chosen.items())
    return f"{row.label} as the paper chose it for each split: {', '.join(said)}."


def _not_asked(row: RecipeRow, preset: str) -> str:
    """A note on how many steps failed without asking the model (quirk Q27), which spares calls and hides what the
    planner would have done."""
    counts = ", ".join(f"{split or 'all splits'} {n:,} of {of:,}" for split, (n, of) in row.not_asked.items())
    harm = "; here they count as wrong in every metric" if preset == Study.Preset.CORRECTED else ""
    return (
        f"Steps of {row.label} that were failed without asking, as published, since no gold element was among those "
        f"ranked first (quirks.q27_fails_unasked): {counts}{harm}."
    )


def _cut(row: RecipeRow) -> str:
    """A note on how many steps did not read workflows or exemplars whole, as recalled pages left them no room."""
    counts = ", ".join(f"{split or 'all splits'} {n:,} of {of:,}" for split, (n, of) in row.cut.items())
    return f"Steps of {row.label} that did not read all their workflows or exemplars, cut for whole pages: {counts}."


def _run_time(row: RecipeRow) -> str:
    ours = ", ".join(f"{split or 'all splits'} {seconds:.3g}" for split, seconds in row.seconds.items())
    theirs = "".join(f"; published ({label}) {seconds:g}" for label, seconds in row.published_seconds)
    return f"Seconds per step of {row.label}, as run here: {ours}{theirs}."


def _place_of_split(split: str) -> int:
    return Split.values.index(split) if split else -1
