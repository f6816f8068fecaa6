"""Draws a task's successes: a lane for each run, with its interval, and the number of Synapse across all of them."""

from dataclasses import dataclass
from typing import Any

from agents.recipes.miniwob_table import SYNAPSE
from evaluation.reports.task_tables import TaskRow, TasksBesidePublished

WIDTH, PAD = 200, 12  # of a plot, pixels; its axis lies within
LANE, EDGE = 8, 5  # pixels: of a run, above the first and below the last


@dataclass(frozen=True)
class LaneMark:
    """A run's success at a task, in pixels; `style` as in the plots of studies, `said` in percent."""

    style: int
    y: int
    value: float
    low: float
    high: float
    said: str


@dataclass(frozen=True)
class DrawnTask:
    """A row of the table with its plot; `synapse` is where that system's number stands, None where it reports none."""

    row: TaskRow
    marks: list[LaneMark]
    synapse: float | None


def drawn(table: TasksBesidePublished) -> dict[str, Any]:
    """The rows of a table with their plots, and what all of these have in common, for the template."""
    lanes = max(len(table.runs), 1)
    return {
        "drawn": [DrawnTask(row, _marks(table, row), _published(row)) for row in table.rows],
        "width": WIDTH,
        "height": 2 * EDGE + LANE * lanes,
        "ticks": [(pixel(percent / 100), percent) for percent in (0, 25, 50, 75, 100)],
    }


def _marks(table: TasksBesidePublished, row: TaskRow) -> list[LaneMark]:
    found = []
    for style, (run, cell) in enumerate(zip(table.runs, row.cells, strict=True)):
        if cell:
            line = cell.line
            said = f"{run.label}: {100 * line.success:.0f}, from {100 * line.low:.0f} to {100 * line.high:.0f}"
            y = EDGE + LANE * style + LANE // 2
            found.append(LaneMark(style, y, pixel(line.success), pixel(line.low), pixel(line.high), said))
    return found


def _published(row: TaskRow) -> float | None:
    value = row.published[SYNAPSE]
    return None if value is None else pixel(value)


def pixel(share: float) -> float:
    """Where a share lies on the axis."""
    return round(PAD + share * (WIDTH - 2 * PAD), 1)
