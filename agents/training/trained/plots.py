"""The curve of a training as lines to draw."""

from dataclasses import dataclass
from typing import Any

PLOT_WIDTH, PLOT_HEIGHT = 640, 180
TICKS = 4  # spaces between the marks of an axis
NOT_PLOTTED = {"step", "epoch", "learning_rate"}


@dataclass(frozen=True)
class TrainingPlot:
    """One measure over the steps of a training, as a line in a box of PLOT_WIDTH × PLOT_HEIGHT."""

    name: str
    points: str  # of an SVG polyline
    first: float
    last: float
    low: float
    high: float
    steps: int
    values: tuple[tuple[int, float], ...] = ()  # of its table

    @property
    def x_ticks(self) -> list[tuple[float, int]]:
        """The marks of the x axis: (pixel, step)."""
        places = sorted({round(self.steps * place / TICKS) for place in range(TICKS + 1)})
        return [(round(PLOT_WIDTH * step / self.steps, 1), step) for step in places]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """The marks of the y axis: (pixel, value)."""
        spread = self.high - self.low
        shares = [place / TICKS for place in range(TICKS + 1)] if spread else [0.0]
        return [(round(PLOT_HEIGHT * (1 - share), 1), f"{self.low + share * spread:.3g}") for share in shares]


def rows(curve: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns and the rows of the curve as a CSV file, a row for each report of the training."""
    names = list(dict.fromkeys(["step", *(name for point in curve for name in point)]))
    return names, curve


def plots(curve: list[dict[str, Any]]) -> list[TrainingPlot]:
    """A plot of each measure of a curve that has at least two points; the loss first."""
    names = dict.fromkeys(["loss", *(name for point in curve for name in point if name not in NOT_PLOTTED)])
    series = {name: [(point["step"], point[name]) for point in curve if name in point] for name in names}
    return [_plot(name, points) for name, points in series.items() if len(points) > 1]


def _plot(name: str, points: list[tuple[int, float]]) -> TrainingPlot:
    values = [value for _, value in points]
    low, high, steps = min(values), max(values), points[-1][0]
    spread = (high - low) or 1.0
    line = " ".join(
        f"{PLOT_WIDTH * step / steps:.1f},{PLOT_HEIGHT * (1 - (value - low) / spread):.1f}" for step, value in points
    )
    return TrainingPlot(name, line, values[0], values[-1], low, high, steps, tuple(points))
