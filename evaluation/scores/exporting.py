"""Scores as tables: the same rows as JSON and as CSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from agents.models import Run, Trajectory
from annotations.access.downloads import safe_cell
from evaluation.metrics.apart import caution
from evaluation.models import Score


def metric_rows(scores: QuerySet[Score]) -> list[dict[str, Any]]:
    """One dictionary per score, in the order in which they were computed: the headline of a metric comes first.
    `caution` says where an interval rests on too few conversations."""
    of_run = Trajectory.objects.counts(Run.objects.filter(scores__in=scores).distinct())
    return [
        {
            "run": score.run_id,
            "recipe": score.run.recipe_name,
            "dataset": score.run.dataset.name,
            "split": score.run.split,
            "seed": score.run.seed,
            "preset": score.preset,
            "metric": score.metric,
            "grouping": score.grouping,
            "headline": score.headline,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "n": score.n,
            "caution": caution(of_run.get(score.run_id)),
        }
        for score in scores.select_related("run__dataset").order_by("run_id", "id")
    ]


METRIC_COLUMNS = (
    *("run", "recipe", "dataset", "split", "seed", "preset", "metric", "grouping", "headline", "value", "low", "high"),
    *("n", "caution"),
)


def to_csv(columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> str:
    """CSV with a header line; numbers in full precision, texts safe to open in a spreadsheet."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()
