"""A report's tables as JSON, CSV, Markdown and LaTeX. Numbers are fractions in JSON and CSV, percent in the others."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.metrics import label
from evaluation.metrics.ood import IntervalValue
from evaluation.metrics.printing import numbers
from evaluation.reports.tables import RecipeRow, ReportTable
from evaluation.scores import exporting

CSV_COLUMNS = (
    *("dataset", "preset", "recipe", "settings", "seed", "limit", "websites", "split"),
    *("metric", "grouping"),
    *("value", "low", "high", "n", "published_in", "differs"),
)
SECONDS = "seconds_per_step"
LATEX_SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def to_json(tables: Sequence[ReportTable]) -> str:
    """A list of tables with everything that is known of each cell."""
    return json.dumps(objects(tables), ensure_ascii=False)


def objects(tables: Sequence[ReportTable]) -> list[dict[str, Any]]:
    """The content of `to_json`."""
    return [_object(table) for table in tables]


def to_csv(tables: Sequence[ReportTable]) -> str:
    """One line per number; `published_in` is empty for ours, and `differs` says what makes ours another agent."""
    rows: list[dict[str, Any]] = []
    for table in tables:
        for row in table.rows:
            settings = {name: value for name, (_, value) in row.settings.items()}
            own = {
                "dataset": table.dataset,
                "preset": table.preset,
                "recipe": row.recipe,
                "settings": json.dumps(settings) if settings else "",
                "seed": row.seed,
                "limit": row.limit,
                "websites": " ".join(row.websites),
                "differs": "; ".join(row.differs),
            }
            for (split, metric), score in row.scores.items():
                rows.append(own | {"split": split, "metric": metric, "published_in": ""} | numbers(score))
            for split, seconds in row.seconds.items():
                rows.append(own | {"split": split, "metric": SECONDS, "grouping": "step", "value": seconds})
            for label_of_row, seconds in row.published_seconds:
                rows.append(
                    {"dataset": table.dataset, "recipe": row.recipe, "metric": SECONDS, "value": seconds}
                    | {"published_in": label_of_row}
                )
            for published in row.published:
                for (split, metric), value in published.values.items():
                    rows.append(
                        {"dataset": table.dataset, "recipe": row.recipe, "split": split, "metric": metric}
                        | {"value": value, "published_in": published.label}
                    )
    return exporting.to_csv(CSV_COLUMNS, rows)


def to_markdown(tables: Sequence[ReportTable]) -> str:
    """A table per dataset with its caption beneath."""
    parts = []
    for table in tables:
        places = _places(table)
        head = ["Recipe", *(f"{split or 'all splits'} {label(metric)}" for split, metric in places)]
        lines = [f"### {table.dataset}", "", _pipes(head), _pipes(["---", *["---:"] * len(places)])]
        for row in table.rows:
            lines.append(_pipes([_row_label(row, table), *(_percent(row.scores.get(place)) for place in places)]))
            for published in row.published:
                values = (f"*{100 * published.values[p]:.1f}*" if p in published.values else "" for p in places)
                lines.append(_pipes([f"*published ({published.label})*", *values]))
        parts.append(
            "\n".join([*lines, "", table.caption, "", *(f"- {note}" for note in table.notes), "", *_differs(table)])
        )
    return "\n".join(parts)


def _differs(table: ReportTable) -> list[str]:
    """Where the table's agents differ from what they follow, as a list in Markdown."""
    if not table.deviations:
        return []
    found = [f"- {deviation.words} ({', '.join(deviation.recipes)})" for deviation in table.deviations]
    return ["Where these agents still differ from the papers and their code:", "", *found, ""]


def to_latex(tables: Sequence[ReportTable]) -> str:
    """A `table` environment per dataset; needs the package booktabs."""
    return "\n".join(_latex(table) for table in tables)


FORMATS: dict[str, Callable[[Sequence[ReportTable]], str]] = {
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "latex": to_latex,
}


def _latex(table: ReportTable) -> str:
    width = len(table.metrics)
    heads = [rf"\multicolumn{{{width}}}{{c}}{{{_tex(split or 'all splits')}}}" for split in table.splits]
    rules = [rf"\cmidrule(lr){{{2 + i * width}-{1 + (i + 1) * width}}}" for i in range(len(table.splits))]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_tex(table.dataset)}. {_tex(table.caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * width * len(table.splits)}}}",
        r"\toprule",
        " & ".join(["", *heads]) + r" \\",
        " ".join(rules),
        " & ".join(["Recipe", *(_tex(label(metric)) for _, metric in _places(table))]) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [_tex(_percent(row.scores.get(place))) for place in _places(table)]
        lines.append(" & ".join([_tex(_row_label(row, table)), *cells]) + r" \\")
        for published in row.published:
            values = [
                rf"\textit{{{100 * published.values[place]:.1f}}}" if place in published.values else ""
                for place in _places(table)
            ]
            lines.append(" & ".join([rf"\textit{{published ({_tex(published.label)})}}", *values]) + r" \\")
    differs = [f"{deviation.words} ({', '.join(deviation.recipes)})" for deviation in table.deviations]
    notes = [rf"\par\footnotesize {_tex(note)}" for note in [*table.notes, *differs]]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *notes, r"\end{table}", ""])


def _object(table: ReportTable) -> dict[str, Any]:
    return {
        "dataset": table.dataset,
        "preset": table.preset,
        "groupings": table.groupings,
        "caption": table.caption,
        "notes": table.notes,
        "deviations": [asdict(deviation) for deviation in table.deviations],
        "splits": table.splits,
        "metrics": table.metrics,
        "rows": [
            {
                "recipe": row.recipe,
                "settings": {name: value for name, (_, value) in row.settings.items()},
                "seed": row.seed,
                "limit": row.limit,
                "websites": list(row.websites),
                "complete": not row.incomplete,
                "differs": row.differs,
                "seconds_per_step": row.seconds,
                "published_seconds_per_step": [
                    {"source": source, "value": value} for source, value in row.published_seconds
                ],
                "cells": [
                    {"split": split, "metric": metric} | numbers(score) for (split, metric), score in row.scores.items()
                ],
                "published": [
                    {"source": published.label, "split": split, "metric": metric, "value": value}
                    for published in row.published
                    for (split, metric), value in published.values.items()
                ],
            }
            for row in table.rows
        ],
    }


def _places(table: ReportTable) -> list[tuple[str, str]]:
    return [(split, metric) for split in table.splits for metric in table.metrics]


def _row_label(row: RecipeRow, table: ReportTable) -> str:
    """The recipe, its seed where rows differ in it, what its conversations are limited to, what makes it another agent
    than was published, a mark where steps are missing."""
    seeds = {other.seed for other in table.rows}
    parts = [row.label, *([f"seed {row.seed}"] if len(seeds) > 1 else [])]
    if row.limit:
        parts.append(f"first {row.limit} conversations")
    if row.websites:
        parts.append(f"on {', '.join(row.websites)}" if len(row.websites) < 4 else f"on {len(row.websites)} websites")
    parts += row.differs
    return ", ".join(parts) + ("*" if row.incomplete else "")


def _percent(score: IntervalValue | None) -> str:
    return f"{100 * score.value:.1f} [{100 * score.low:.1f}, {100 * score.high:.1f}]" if score else "–"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _tex(text: str) -> str:
    return text.translate(LATEX_SPECIAL).replace("–", "--")
