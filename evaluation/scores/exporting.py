"""Scores as tables: the same rows as JSON and as CSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from agents.models import Run, Trajectory
from agents.recipes.differences import changed_settings
from annotations.access.downloads import safe_cell
from evaluation.metrics.apart import caution
from evaluation.models import Score


def metric_rows(scores: QuerySet[Score]) -> list[dict[str, Any]]:
    """One dictionary per score, in the order in which they were computed: the headline of a metric comes first.
    `caution` says where an interval rests on too few conversations."""
    runs = list(Run.objects.filter(scores__in=scores).distinct())
    of_run = Trajectory.objects.counts(runs)
    changed = {run.pk: "; ".join(f"{k}={v[1]}" for k, v in changed_settings(run.recipe).items()) for run in runs}
    return [
        {
            "run": score.run_id,
            "recipe": score.run.recipe_name,
            "settings": changed[score.run_id],
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
            "caution": caution(of_run.get(score.run_id), score.low == score.high),
        }
        for score in scores.select_related("run__dataset").order_by("run_id", "id")
    ]


METRIC_COLUMNS = (
    *("run", "recipe", "settings", "dataset", "split", "seed", "preset", "metric", "grouping", "headline"),
    *("value", "low", "high"),
    *("n", "caution"),
)


def to_csv(columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> str:
    """CSV with a header line; numbers in full precision, texts safe to open in a spreadsheet."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()
