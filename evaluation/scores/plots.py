"""The data of a study's plots: recall at k, success by turn, websites by recipe, live conversations by site, time and
money against quality.

Each is a list of points, which is its table and its CSV as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.environments.task_sets import TALKING
from agents.models import Run
from agents.stages.registry import ranks_only
from annotations.text.amounts import amount
from evaluation.metrics.outcomes import Metric
from evaluation.metrics.scores import MetricPreset
from evaluation.models import Score
from evaluation.scores.breakdowns import RunBreakdown, SiteBreakdown
from evaluation.scores.tables import FULL_NAMES, PLOTTED, main_metrics
from evaluation.scores.taken import TakenSteps

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 300, 170, 34, 22, 8  # of a panel, pixels; axes lie within
ALONE = 640  # width of a panel that is its plot's only one
BESIDE = 4  # pixels between two recipes at the same place of an axis of words
STYLES = 8  # lines that can be told apart
REST = "-rest"  # the style of all others, where there are more
X_NAMES = {"seconds": "seconds a step, ranking as where pages were new", "money": "money a step"}
BY_SITE = {
    "live_turn_success": "Turns that succeed",
    "episode_success": "Conversations all of whose turns succeed",
    "recovery": "Turns that succeed although the website told a problem",
    "path_ratio": "Steps of turns that succeed, against the recorded path",
    "side_effects": "Changes that nobody asked for, a turn",
}  # metric of live conversations -> the title of its heat map
COLUMNS = ("plot", "split", "recipe", "x", "value", "low", "high", "n")


@dataclass(frozen=True)
class PlotPoint:
    """One value of one run; `x` is a word of the axis, or a number."""

    split: str
    recipe: str
    x: str | float
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class PlotData:
    """A plot's points and what its axes are."""

    name: str
    title: str
    x_name: str
    points: list[PlotPoint]
    is_numeric: bool = False
    metric: str = ""  # what is measured, where the title does not say it
    is_heat: bool = False  # websites × recipes
    unit: str = "turn"  # what `n` of a point counts
    is_joined: bool = True  # a line goes from point to point
    line: str = "Recipe"  # what a line is

    def rows(self) -> list[dict[str, object]]:
        """The points as rows of a CSV."""
        return [{"plot": self.name} | vars(point) for point in self.points]


@dataclass(frozen=True)
class PlotMark:
    """A value drawn in a panel, in pixels, with its interval where there is one, and its tooltip."""

    x: float
    y: float
    said: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PlotLine:
    """One recipe's marks in a panel; `style` is the same in all panels. Of several recipes where all that is drawn of
    them is the same, and there are many."""

    recipe: str
    style: int | str
    marks: list[PlotMark]

    @property
    def path(self) -> str:
        return " ".join(f"{mark.x},{mark.y}" for mark in self.marks)


@dataclass(frozen=True)
class Panel:
    """One split; all panels of a plot have the same axes."""

    split: str
    lines: list[PlotLine]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, int]]


@dataclass(frozen=True)
class HeatCell:
    """A field of a heat map: a share, and how strongly it is tinted (0 … 9)."""

    value: float
    n: int | None
    tint: int
    low: float | None = None
    high: float | None = None
    unit: str = "turn"

    @property
    def said(self) -> str:
        return amount(self.n or 0, self.unit)


@dataclass(frozen=True)
class HeatMap:
    """Websites and recipes, whichever are more from top to bottom. A name is (website, split) or (recipe, "")."""

    corner: tuple[str, str]  # what the names of rows are
    columns: list[tuple[str, str]]
    rows: list[tuple[tuple[str, str], list[HeatCell | None]]]


@dataclass
class DrawnPlot:
    """A plot as its page shows it: panels of lines, or a heat map. `recipes`: style and name of each line."""

    data: PlotData
    recipes: list[tuple[int | str, str]] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    heat: HeatMap | None = None
    width: int = WIDTH  # of a panel

    @property
    def right(self) -> int:
        """Where the lines of a panel's grid end."""
        return self.width - 8


class RunPlots:
    """Makes the plots of the runs of a study, by the metrics of a preset."""

    def __init__(self, runs: list[Run], preset: MetricPreset) -> None:
        self.runs, self.preset = runs, preset
        self.labels = self._labels()

    def all(self, sees_gold: Callable[[str], bool]) -> list[PlotData]:
        """The plots that have points. Those of where runs fail are made of splits whose gold may be seen."""
        open_runs = [run for run in self.runs if sees_gold(run.split) and not ranks_only(run.recipe)]
        found = [
            self._recall(),
            self._slices(open_runs, "by_turn", "Success by turn", "turn of the conversation"),
            replace(self._slices(open_runs, "by_website", "Websites by recipe", "website"), is_heat=True),
            *self._sites(),
            self._price("seconds"),
            self._price("money"),
        ]
        return [data for data in found if data.points]

    def _labels(self) -> dict[int, str]:
        """Run -> its label: the recipe, with seed and changed settings where these are needed to tell runs apart."""
        several_seeds = len({run.seed for run in self.runs}) > 1
        names = {
            run.pk: f"{run.recipe_name} · seed {run.seed}" if several_seeds else run.recipe_name for run in self.runs
        }
        same = {name for name in names.values() if len({r.recipe_sha256 for r in self.runs if names[r.pk] == name}) > 1}
        return {
            run.pk: f"{names[run.pk]} {run.recipe_sha256[:6]}" if names[run.pk] in same else names[run.pk]
            for run in self.runs
        }

    def _recall(self) -> PlotData:
        rows = Score.objects.headline(self.preset).filter(run__in=self.runs, metric__startswith="recall@")
        of_run = {run.pk: run for run in self.runs}
        points = [
            PlotPoint(
                of_run[s.run_id].split, self.labels[s.run_id], s.metric.partition("@")[2], s.value, s.low, s.high, s.n
            )
            for s in sorted(rows, key=lambda s: (s.run_id, int(s.metric.partition("@")[2])))
        ]
        return PlotData("recall", "Recall of the gold element at k", "candidates kept (k)", points)

    def _slices(self, runs: list[Run], slices: str, title: str, x_name: str) -> PlotData:
        """The turn success of each slice, as it was kept when the run was scored."""
        points = []
        for run in runs:
            for one in (RunBreakdown(run, self.preset).stored() or {slices: []})[slices]:
                rate = one.turn_success
                low, high = (None, None) if one.is_single else (rate.low, rate.high)
                points.append(PlotPoint(run.split, self.labels[run.pk], one.name, rate.value, low, high, one.turns))
        return PlotData(slices, title, x_name, points, metric="turn success rate, ")

    def _sites(self) -> list[PlotData]:
        """What live conversations came to on each site, as it was kept when the run was scored."""
        live = [run for run in self.runs if run.dataset.is_live and run.dataset.live["environment"] in TALKING]
        of_run = [
            (self.labels[run.pk], site, found) for run in live for site, found in SiteBreakdown(run).of_now().items()
        ]
        return [
            PlotData(
                f"site_{metric}",
                title,
                "website",
                [_point(recipe, site, found[metric]) for recipe, site, found in of_run if metric in found],
                metric="percent, ",
                is_heat=True,
                unit="conversation",
            )
            for metric, title in BY_SITE.items()
        ]

    def _price(self, unit: str) -> PlotData:
        """The main metric against what a step takes: seconds, or money where calls have a price."""
        metric = PLOTTED[main_metrics(self.runs)]
        scores = {
            score.run_id: score
            for score in Score.objects.headline(self.preset).filter(run__in=self.runs, metric=metric)
        }
        taken = TakenSteps(self.runs)
        spent = taken.seconds() if unit == "seconds" else taken.money()
        points = [
            PlotPoint(run.split, self.labels[run.pk], spent[run.pk], s.value, s.low, s.high, s.n)
            for run in self.runs
            if run.pk in spent and (s := scores.get(run.pk))
        ]
        title = f"{FULL_NAMES.get(metric, metric)} against {'time' if unit == 'seconds' else 'money'}"
        return PlotData(unit, title, X_NAMES[unit], points, is_numeric=True)


def _point(recipe: str, site: str, metric: Metric) -> PlotPoint:
    """One conversation alone tells nothing of another: no interval."""
    low, high = (metric.low, metric.high) if metric.n > 1 else (None, None)
    return PlotPoint("", recipe, site, metric.value, low, high, metric.n)


def drawn_together(of_study: Sequence[PlotData]) -> list[DrawnPlot]:
    """The plots of a page: a recipe has the same line in all of them, also where one shows fewer recipes. Of more
    recipes than can be told apart those that do best have a line of their own; the others are pale and alike."""
    lines = _styles(of_study)
    return [_drawn(data, lines) for data in of_study]


def _styles(of_study: Sequence[PlotData]) -> dict[str, int | str]:
    """The style of each recipe's line, by name."""
    values: dict[str, list[float]] = {}
    for data in of_study:
        for point in data.points:
            values.setdefault(point.recipe, []).append(point.value)
    best = sorted(values, key=lambda recipe: (-sum(values[recipe]) / len(values[recipe]), recipe))[:STYLES]
    own = {recipe: place for place, recipe in enumerate(sorted(best))}
    return {recipe: own.get(recipe, REST) for recipe in sorted(values)}


def _drawn(data: PlotData, lines: Mapping[str, int | str]) -> DrawnPlot:
    recipes = sorted({point.recipe for point in data.points})
    if data.is_heat:
        return DrawnPlot(data, [(lines[recipe], recipe) for recipe in recipes], heat=_heat(data, recipes))
    groups = _alike(data, recipes, lines) if len(recipes) > STYLES else [[recipe] for recipe in recipes]
    width = ALONE if len({point.split for point in data.points}) == 1 else WIDTH
    panels = _panels(data, groups, lines, width)
    named: list[tuple[int | str, str]] = [(lines[one[0]], _together(one)) for one in groups if lines[one[0]] != REST]
    others = [one for one in groups if lines[one[0]] == REST]
    if others:
        named.append((REST, f"{amount(sum(map(len, others)), 'other')}, lower: point at a mark, or see the table"))
    return DrawnPlot(data, named, panels, width=width)


def _alike(data: PlotData, recipes: Sequence[str], lines: Mapping[str, int | str]) -> list[list[str]]:
    """Recipes by what is drawn of them, as those with the same ranker keep the same elements: each group with its best
    style first."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for recipe in recipes:
        drawn = tuple((p.split, p.x, p.value, p.low, p.high) for p in data.points if p.recipe == recipe)
        groups.setdefault(drawn, []).append(recipe)
    return [sorted(group, key=lambda recipe: (lines[recipe] == REST, recipe)) for group in groups.values()]


def _together(recipes: Sequence[str]) -> str:
    first, *others = recipes
    return f"{first} and {len(others)} more, alike" if others else first


def _panels(
    data: PlotData, groups: Sequence[Sequence[str]], styles: Mapping[str, int | str], width: int
) -> list[Panel]:
    """A panel for each split; all have the same axes, on which every point of the plot lies. Of each group of recipes
    that are alike one line."""
    x_of, x_ticks = _numbers(data, width) if data.is_numeric else _words(data, width)
    y_ticks = [(_y(percent / 100), percent) for percent in (0, 25, 50, 75, 100)]
    own = [group[0] for group in groups if styles[group[0]] != REST]
    panels = []
    for split in dict.fromkeys(point.split for point in data.points):
        lines = []
        for group in sorted(groups, key=lambda group: styles[group[0]] != REST):  # what is pale lies below
            recipe = group[0]
            # Side by side, so that none lies under another; what is measured on the axis stays where it is.
            is_aside = recipe in own and not data.is_numeric
            aside = BESIDE * (own.index(recipe) - (len(own) - 1) / 2) if is_aside else 0.0
            marks = [
                _mark(point, round(x_of(point.x) + aside, 1), ", ".join(group))
                for point in data.points
                if (point.split, point.recipe) == (split, recipe)
            ]
            if marks:
                lines.append(PlotLine(_together(group), styles[recipe], marks))
        panels.append(Panel(split or "all splits", lines, x_ticks, y_ticks))
    return panels


def _mark(point: PlotPoint, x: float, recipes: str) -> PlotMark:
    said, y = f"{recipes}, {_named(point.x)}: {100 * point.value:.1f}", _y(min(1.0, max(0.0, point.value)))
    if point.low is None or point.high is None:
        return PlotMark(x, y, said)
    said += f", from {100 * point.low:.1f} to {100 * point.high:.1f}"
    return PlotMark(x, y, said, _y(max(0.0, point.low)), _y(min(1.0, max(0.0, point.high))))


def _words(data: PlotData, width: int) -> tuple[Callable[[str | float], float], list[tuple[float, str]]]:
    words = list(dict.fromkeys(str(point.x) for point in data.points))
    words.sort(key=lambda word: int(word.rstrip("+")) if word.rstrip("+").isdigit() else 0)
    # Measures stand in the middle of their part of the axis, as their names are long.
    edge = 10 + BESIDE * (STYLES - 1) / 2  # as far as marks stand aside
    step = (width - LEFT - 2 * edge) / (max(len(words) - 1, 1) if data.is_joined else len(words))
    first = LEFT + edge + (0 if data.is_joined else step / 2)
    places = {word: round(first + step * place, 1) for place, word in enumerate(words)}
    return lambda x: places[str(x)], [(places[word], word) for word in words]


def _numbers(data: PlotData, width: int) -> tuple[Callable[[str | float], float], list[tuple[float, str]]]:
    """A numeric axis, from 0 to a round number above the largest: its scale (value -> pixel) and its ticks."""
    most = max((float(point.x) for point in data.points), default=1.0) or 1.0
    unit = next(u for u in (10.0**e * m for e in range(-6, 9) for m in (1, 2, 5)) if u * 4 >= most)

    def pixel(x: str | float) -> float:
        return round(LEFT + 10 + float(x) / (4 * unit) * (width - LEFT - 30), 1)

    return pixel, [(pixel(unit * place), f"{unit * place:g}") for place in range(5)]


def _y(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)


def _named(x: str | float) -> str:
    return x if isinstance(x, str) else f"{x:.3g}"


def _heat(data: PlotData, recipes: list[str]) -> HeatMap:
    at = {(point.split, str(point.x), point.recipe): point for point in data.points}
    places = list(dict.fromkeys((point.split, str(point.x)) for point in data.points))
    sites = [(site, split or "all splits") for split, site in places]
    cells = [[_cell(at.get((split, site, recipe)), data.unit) for recipe in recipes] for split, site in places]
    named = [(recipe, "") for recipe in recipes]
    if len(recipes) > len(sites):
        turned = [list(column) for column in zip(*cells, strict=True)]
        return HeatMap(("Recipe", ""), sites, list(zip(named, turned, strict=True)))
    return HeatMap(("Website", "Split"), named, list(zip(sites, cells, strict=True)))


def _cell(point: PlotPoint | None, unit: str) -> HeatCell | None:
    if point is None:
        return None
    return HeatCell(point.value, point.n, min(9, int(10 * point.value)), point.low, point.high, unit)
