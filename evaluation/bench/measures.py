"""The results of benchmarks: each is one row of the table and of var/bench.json."""

import operator
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

SIGNS = {"<=": operator.le, ">=": operator.ge}


class Goal(NamedTuple):
    """A limit on the value itself or on its ratio to the baseline."""

    sign: Literal["<=", ">="]
    limit: float
    of: Literal["value", "ratio"] = "value"

    def __str__(self) -> str:
        return f"{'ratio ' if self.of == 'ratio' else ''}{self.sign} {self.limit:g}"


@dataclass(frozen=True)
class Measure:
    """One measured figure. The baseline was measured in the same run, in turn with the value; the note says how."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    goal: Goal | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value ÷ baseline: below 1 is better for times, above 1 for rates."""
        return self.value / self.baseline if self.baseline else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        return bool(SIGNS[self.goal.sign](getattr(self, self.goal.of), self.goal.limit))

    def to_dict(self) -> dict[str, Any]:
        """A row of var/bench.json, whose keys stay."""
        return {
            "name": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "baseline": _rounded(self.baseline),
            "ratio": _rounded(self.ratio),
            "goal": str(self.goal) if self.goal else None,
            "met": self.met,
        }


def latencies(name: str, seconds: Sequence[float], baseline: Sequence[float] | None = None, note: str = ""):
    """Median and 95th percentile in milliseconds, as two measures."""
    return [
        Measure(
            f"{name}, p{percent}",
            float(np.percentile(seconds, percent)) * 1000,
            "ms",
            float(np.percentile(baseline, percent)) * 1000 if baseline else None,
            note=note,
        )
        for percent in (50, 95)
    ]


def table(measures: Iterable[Measure]) -> list[str]:
    """Lines for a terminal; equal notes that follow each other are printed once."""
    rows: list[tuple[str, ...]] = [("", "value", "", "baseline", "ratio", "goal", "met")]
    rows += [_cells(measure) for measure in measures]
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    left = (0, 2, 5, 6)
    lines = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    notes = list(dict.fromkeys(measure.note for measure in measures if measure.note))
    return [*lines, "", "ratio = value ÷ baseline, measured in turn in this run", *(f"· {note}" for note in notes)]


def _cells(measure: Measure) -> tuple[str, ...]:
    met = {None: "", True: "yes", False: "NO"}[measure.met]
    numbers = _figure_text(measure.value), measure.unit, _figure_text(measure.baseline), _figure_text(measure.ratio)
    return (measure.name, *numbers, str(measure.goal or ""), met)


def _figure_text(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3g}" if abs(value) < 0.1 else f"{value:.3f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def processor_seconds(work: Callable[[], object]) -> float:
    """How long the processor works on it: other programs of the machine count for nothing."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
