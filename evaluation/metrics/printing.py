"""Metrics for commands: as objects for JSON, as lines for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.metrics.ood import IntervalValue


def numbers(estimate: IntervalValue) -> dict[str, Any]:
    """One metric as commands print it with --json; values are fractions."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "grouping": estimate.grouping,
    }


def lines(metrics: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A table of such objects by name, line by line, with a header."""
    yield f"{'metric':24}{'value':>8}   {'95 % interval':16} {'n':>6}  mean over"
    for name, metric in metrics.items():
        interval = f"{metric['low']:z.3f} – {metric['high']:z.3f}"
        yield f"{name:24}{metric['value']:z8.3f}   {interval:16} {metric['n']:6}  {metric['grouping']}"
