"""Step success as SVG, a colour for each part: of each task a row of marks, or over demonstrations a curve. Core."""

from collections.abc import Mapping, Sequence
from html import escape

from annotations.agreement import Agreement

LEFT, WIDTH, ROW, TOP = 220, 320, 16, 40  # pixels
COLOURS = ("#2563eb", "#b45309")
STEP, HIGH = 110, 240  # pixels of a curve: between two points, and from 0 % to 100 %


def tasks_svg(parts: Mapping[str, Mapping[str, tuple[float, int]]]) -> str:
    """Tasks in the order of their share in the first part, the best on top. `parts`: part -> task -> share and
    steps."""
    first, *_ = parts.values()
    tasks = sorted({task for part in parts.values() for task in part}, key=lambda t: (-first.get(t, (0, 0))[0], t))
    height, width = TOP + ROW * len(tasks) + 30, LEFT + WIDTH + 30
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="sans-serif" font-size="11"><title>Step success by task</title>'
    ]
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        out.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{height - 26}" stroke="#888" stroke-opacity="0.3"/>')
        out.append(f'<text x="{x}" y="{height - 10}" text-anchor="middle" fill="#777">{tenth / 10:.0%}</text>')
    for row, task in enumerate(tasks):
        y = TOP + ROW * row + ROW / 2
        out.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end" fill="#777">{escape(task)}</text>')
        for colour, (name, part) in zip(COLOURS, parts.items(), strict=False):
            if task in part:
                share, n = part[task]
                out.append(
                    f'<circle cx="{_x(share)}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.7">'
                    f"<title>{escape(task)}, {escape(name)}: {share:.0%} of {n}</title></circle>"
                )
    for place, (colour, name) in enumerate(zip(COLOURS, parts, strict=False)):
        out.append(f'<text x="{LEFT + 120 * place}" y="{TOP - 16}" fill="{colour}">● {escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def curve_svg(labels: Sequence[str], parts: Mapping[str, Sequence[Agreement]]) -> str:
    """A curve for each part, with the intervals of its points; `labels`: of the points, from left to right. A point
    without a value is left out."""
    left, width, height = 60, 60 + STEP * len(labels), TOP + HIGH + 50
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="sans-serif" font-size="11"><title>Step success by demonstrations a task</title>'
    ]
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        out.append(f'<line x1="{left}" y1="{y}" x2="{width - 20}" y2="{y}" stroke="#888" stroke-opacity="0.3"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="#777">{tenth / 10:.0%}</text>')
    places = [left + STEP * place + STEP // 2 for place in range(len(labels))]
    for x, label in zip(places, labels, strict=True):
        out.append(f'<text x="{x}" y="{TOP + HIGH + 20}" text-anchor="middle" fill="#777">{escape(label)}</text>')
    out.append(f'<text x="{left}" y="{height - 8}" fill="#777">demonstrations a task</text>')
    for number, (colour, (name, points)) in enumerate(zip(COLOURS, parts.items(), strict=False)):
        out.append(f'<text x="{left + 120 * number}" y="{TOP - 16}" fill="{colour}">● {escape(name)}</text>')
        # Beside each other, so that neither interval hides the other's.
        out += _curve(colour, name, [(x + 4 * number, point) for x, point in zip(places, points, strict=True)])
    return "\n".join([*out, "</svg>"]) + "\n"


def _curve(colour: str, name: str, points: Sequence[tuple[int, Agreement]]) -> list[str]:
    out, line = [], []
    for x, point in points:
        if point.value is None:
            continue
        told, y = f"{name}: {point.value:.3f}", _y(point.value)
        line.append(f"{x},{y}")
        if point.low is not None and point.high is not None:
            told += f" [{point.low:.3f}, {point.high:.3f}]"
            ends = f'y1="{_y(point.low)}" y2="{_y(point.high)}"'
            out.append(f'<line x1="{x}" x2="{x}" {ends} stroke="{colour}" stroke-opacity="0.5" stroke-width="2"/>')
        out.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"><title>{escape(told)}</title></circle>')
    return [f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="1.5"/>', *out]


def _y(share: float) -> float:
    return round(TOP + (1 - share) * HIGH, 1)


def _x(share: float) -> float:
    return round(LEFT + share * WIDTH, 1)
