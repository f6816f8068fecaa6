"""Texts cut into runs for reading: what changed from one to the other, and what is marked in them. Core."""

from collections.abc import Iterable
from typing import NamedTuple

from annotations.text.merging import pieces
from annotations.text.opcodes import opcodes


class Span(NamedTuple):
    """A stretch of a text, in characters, and how it is marked."""

    start: int
    end: int
    mark: str


class MarkedPiece(NamedTuple):
    """A piece of a text with the marks of every span that covers it, apart by spaces."""

    text: str
    marks: str


def changed(before: str, after: str) -> tuple[list[Span], list[Span]]:
    """What is only in `before` (marked "del") and only in `after` (marked "ins"), word by word."""
    a, b = pieces(before), pieces(after)
    places_a, places_b = _places(a), _places(b)
    gone, come = [], []
    for kind, a_start, a_end, b_start, b_end in opcodes(a, b):
        if kind != "equal":
            gone.append(Span(places_a[a_start], places_a[a_end], "del"))
            come.append(Span(places_b[b_start], places_b[b_end], "ins"))
    return [span for span in gone if span.start < span.end], [span for span in come if span.start < span.end]


def runs(text: str, spans: Iterable[Span]) -> list[MarkedPiece]:
    """The text in pieces; joined they are the text. An empty span is an empty run at its place."""
    known = [Span(min(s.start, len(text)), min(s.end, len(text)), s.mark) for s in spans if s.start <= s.end]
    ends = sorted({0, len(text), *(place for span in known for place in span[:2])})
    found = []
    for start, end in zip(ends, [*ends[1:], len(text)], strict=True):
        found += [MarkedPiece("", span.mark) for span in known if span.start == span.end == start]
        if start < end:
            found.append(MarkedPiece(text[start:end], _marks(known, start, end)))
    return found


def _marks(spans: list[Span], start: int, end: int) -> str:
    return " ".join(dict.fromkeys(span.mark for span in spans if span.start <= start and end <= span.end))


def _places(tokens: list[str]) -> list[int]:
    places = [0]
    for token in tokens:
        places.append(places[-1] + len(token))
    return places
