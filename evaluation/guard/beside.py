"""The guard by policy and page beside the one that asks past transitions too: the same steps, and a plot of both."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from evaluation.guard.report_rows import ALONE, FORESEEN, GOAL, MEASURES, PAD, WIDTH, pixel, ticks

COLOURS = {ALONE: "#2563eb", FORESEEN: "#b45309"}
LABELS, ROW, TITLE = 150, 22, 30  # pixels: left of the axis, of an interval, of a title


def beside_svg(reports: Mapping[str, dict[str, Any]]) -> str:
    """Recall and false alarms of each guard with their intervals, of the steps whose labels agree; the goal is
    shaded."""
    splits = [split for split, found in next(iter(reports.values()))["splits"].items() if found["steps"]]
    parts: list[str] = []
    y = 0
    for measure, title in MEASURES.items():
        parts.append(f'<text x="8" y="{y + 20}" font-weight="bold" fill="#666">{title}</text>')
        y += TITLE
        for split in splits:
            for name, report in reports.items():
                parts += _row(f"{split}, {name}", measure, report["splits"][split]["agreed"][measure], name, y)
                y += ROW
        parts += [
            f'<text x="{LABELS + x}" y="{y + 14}" text-anchor="middle" fill="#666">{percent}%</text>'
            for x, percent in ticks()
        ]
        y += TITLE
    size = f'viewBox="0 0 {LABELS + WIDTH + 90} {y}" width="{LABELS + WIDTH + 90}" height="{y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="11">'
    return (
        "\n".join([head, "<title>What the guard holds, without and with predictions</title>", *parts, "</svg>"]) + "\n"
    )


def _row(label: str, measure: str, share: dict[str, Any], name: str, y: int) -> Iterator[str]:
    middle, (start, end) = y + ROW / 2, map(pixel, GOAL[measure][1])
    yield f'<text x="8" y="{middle + 4}" fill="#666">{escape(label)}</text>'
    yield f'<rect x="{LABELS + start}" y="{y}" width="{end - start:.1f}" height="{ROW}" fill="#2563eb" opacity="0.12"/>'
    if share["value"] is None:
        yield f'<text x="{LABELS + PAD}" y="{middle + 4}" fill="#666">no such step</text>'
        return
    low, value, high = (LABELS + pixel(share[key]) for key in ("low", "value", "high"))
    yield f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}" stroke="{COLOURS[name]}"/>'
    yield f'<circle cx="{value}" cy="{middle}" r="4.5" fill="{COLOURS[name]}"/>'
    told = f"{share['hits']} of {share['n']}"
    yield f'<text x="{LABELS + WIDTH + 8}" y="{middle + 4}" fill="#666">{told}</text>'
