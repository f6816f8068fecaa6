"""The reliability plot as SVG: how often predictions of a confidence were right. Core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from agents.world_model.calibration import ReliabilityBin

SIZE, LEFT, TOP = 240, 40, 12  # of the box, pixels
COLOURS = ("#2563eb", "#b45309", "#15803d", "#9333ea")


def reliability_svg(curves: Mapping[str, Sequence[ReliabilityBin]]) -> str:
    """Each named curve in a colour. The size of a mark tells how many cases it holds; on the diagonal a confidence is
    right."""
    width, height = SIZE + LEFT + 120, SIZE + TOP + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="sans-serif" font-size="11"><title>Share that was right by confidence</title>',
        f'<rect x="{LEFT}" y="{TOP}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#888"/>',
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#888" stroke-dasharray="4 3"/>',
    ]
    for part in (0, 0.5, 1):
        parts.append(f'<text x="{_x(part)}" y="{_y(0) + 16}" text-anchor="middle" fill="#666">{part:.0%}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{_y(part) + 4}" text-anchor="end" fill="#666">{part:.0%}</text>')
    parts.append(f'<text x="{_x(0.5)}" y="{_y(0) + 32}" text-anchor="middle" fill="#666">confidence</text>')
    for place, (name, found) in enumerate(curves.items()):
        parts += _curve(name, found, COLOURS[place % len(COLOURS)], place)
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True)
class ReliabilityMark:
    """A bin in the plot: its place, its size, and the same in words."""

    x: float
    y: float
    r: float
    words: str
    of: ReliabilityBin


def marks(found: Sequence[ReliabilityBin]) -> list[ReliabilityMark]:
    total = sum(one.count for one in found) or 1
    return [
        ReliabilityMark(
            _x(one.confidence),
            _y(one.share),
            round(2 + 8 * (one.count / total) ** 0.5, 1),
            f"{one.count} of confidence {one.confidence:.0%}: {one.share:.0%} right",
            one,
        )
        for one in found
    ]


def _curve(name: str, found: Sequence[ReliabilityBin], colour: str, place: int) -> list[str]:
    points = " ".join(f"{mark.x},{mark.y}" for mark in marks(found))
    circles = [
        f'<circle cx="{mark.x}" cy="{mark.y}" r="{mark.r}" fill="{colour}" fill-opacity="0.6">'
        f"<title>{mark.words}</title></circle>"
        for mark in marks(found)
    ]
    total = sum(one.count for one in found)
    label = f'<text x="{_x(1) + 10}" y="{TOP + 14 + 16 * place}" fill="{colour}">{escape(name)} ({total})</text>'
    return [f'<polyline points="{points}" fill="none" stroke="{colour}"/>', *circles, label]


def _x(share: float) -> float:
    return round(LEFT + share * SIZE, 1)


def _y(share: float) -> float:
    return round(TOP + (1 - share) * SIZE, 1)
