"""Each task's step success as SVG: a row for each task, a mark for each part. Core."""

from collections.abc import Mapping
from html import escape

LEFT, WIDTH, ROW, TOP = 220, 320, 16, 40  # pixels
COLOURS = ("#2563eb", "#b45309")


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


def _x(share: float) -> float:
    return round(LEFT + share * WIDTH, 1)
