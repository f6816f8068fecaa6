"""Figures of a drawing that the instruction describes by kind, size, colour or letter, and how many there are. Core."""

from collections.abc import Iterable, Sequence

import numpy as np

from agents.learned.candidates import COLOURS, PageCandidates, colour_words, number
from agents.learned.instruction import Instruction
from agents.learned.mentions import Columns
from annotations.dom.elements import DescribedElement

KINDS = {
    "circle": {"circle", "shape", "figure"},
    "ellipse": {"ellipse", "oval", "circle", "shape", "figure"},
    "rect": {"rectangle", "square", "shape", "figure"},
    "polygon": {"triangle", "polygon", "shape", "figure"},
}
TEXT_IN_FIGURE = "svg-text"
LARGE, SMALL = {"large", "big", "larger", "bigger"}, {"small", "little", "smaller", "tiny"}
DIFFERENT = 1.4  # how much higher the highest figure is than the lowest, where there are large and small ones
ASKED = {"letter", "digit", "number"}.union(LARGE, SMALL, COLOURS, *KINDS.values())


def figure_columns(page: PageCandidates, instruction: Instruction) -> Columns:
    """Column name -> one float per candidate: whether it is a figure that has all that the instruction says of one,
    and whether it is called the number of these."""
    figures = [element for element in page.everything if element.tag in KINDS or element.tag == TEXT_IN_FIGURE]
    meant = _meant(figures, instruction)
    ids = {element.node_id for element in meant}
    numbers = [number(name) for name in page.names]
    return {
        "figures": np.full(len(numbers), min(len(figures), 20) / 20, dtype=np.float32),
        "described": _column(element.node_id in ids for element in page.candidates),
        "is_count": _column(
            bool(figures) and value == len(meant) and element.node_id not in ids and element.tag not in KINDS
            for value, element in zip(numbers, page.candidates, strict=True)
        ),
    }


def _meant(figures: Sequence[DescribedElement], instruction: Instruction) -> list[DescribedElement]:
    """The figures that have everything that is said; none where nothing is."""
    said = {word for word in instruction.lower if word in ASKED}
    letters = {e.text for e in figures if len(e.text) == 1} & set(_letters(instruction))
    if not said and not letters:
        return []
    middle = _middle(figures)
    return [one for one in figures if said <= _words(one, middle) and (not letters or one.text in letters)]


def _letters(instruction: Instruction) -> Iterable[str]:
    """Single letters and digits as written, also in the plural ("Qs"); no article, which something follows."""
    for word, following in zip(instruction.words, [*instruction.words[1:], ""], strict=True):
        if (len(word) == 1 and not (word in "aAI" and following)) or (len(word) == 2 and word[1] == "s"):
            yield word[0]


def _middle(figures: Sequence[DescribedElement]) -> float | None:
    """The height between large and small figures; None where all are about as high."""
    heights = [element.bbox[3] for element in figures if element.bbox]
    if not heights or max(heights) < DIFFERENT * min(heights):
        return None
    return (max(heights) + min(heights)) / 2


def _words(figure: DescribedElement, middle: float | None) -> set[str]:
    words = KINDS.get(figure.tag, set()) | colour_words(figure.attributes.get("bg_color", ""))
    if figure.tag == TEXT_IN_FIGURE:
        words |= {"digit", "number"} if figure.text.strip().isdigit() else {"letter"}
    if middle is None or figure.bbox is None:
        return words | LARGE | SMALL
    return words | (LARGE if figure.bbox[3] > middle else SMALL)


def _column(values: Iterable[float]) -> np.ndarray:
    return np.fromiter((float(value) for value in values), dtype=np.float32)
