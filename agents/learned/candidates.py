"""Read a page for the planner: its candidates with all the words that could describe them. Core."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agents.learned.instruction import Date, month_number, normal, ordinal_words, tokens
from annotations.dom.elements import DescribedElement, elements
from annotations.dom.tree import Element

NAME_WORDS = 12
TEXT = 300  # characters of an element whose words count as the page's
LEVELS = 4  # the element itself and how many blocks around it are compared with the instruction
DARK, PALE, GREY = 0.2, 0.9, 0.15  # value, lightness and saturation below or above which a hue is not seen
PINK = 0.6  # a red with this much of the other colours
DAYS = 28  # as many numbers in a row are a calendar

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_HUES = (
    (15, "red"),
    (45, "orange brown"),
    (70, "yellow gold olive"),
    (95, "green lime"),
    (165, "green"),
    (200, "cyan aqua teal turquoise"),
    (260, "blue navy"),
    (290, "purple violet indigo"),
    (345, "magenta pink fuchsia purple"),
    (361, "red"),
)
# What CSS calls a colour, people who write pages mean by that word: lime is none of the greens of pages.
_NAMED = {
    (0, 0, 0): "black",
    (0, 0, 128): "navy",
    (0, 0, 255): "blue",
    (0, 128, 0): "green",
    (0, 128, 128): "teal",
    (0, 255, 0): "lime",
    (0, 255, 255): "aqua cyan",
    (128, 0, 0): "maroon",
    (128, 0, 128): "purple",
    (128, 128, 0): "olive",
    (128, 128, 128): "grey gray",
    (165, 42, 42): "brown",
    (192, 192, 192): "silver",
    (238, 130, 238): "violet",
    (255, 0, 0): "red",
    (255, 0, 255): "magenta fuchsia",
    (255, 165, 0): "orange",
    (255, 192, 203): "pink",
    (255, 255, 0): "yellow",
    (255, 255, 255): "white",
}
COLOURS = frozenset(
    {"black", "white", "grey", "gray", "pink"}.union(
        *(names.split() for names in (*_NAMED.values(), *(names for _, names in _HUES)))
    )
)
# Words people use for what the markup calls otherwise.
_KIND_WORDS = {
    "rect": "rectangle square box",
    "circle": "circle",
    "polygon": "triangle polygon",
    "ellipse": "ellipse oval",
    "textbox": "text textbox input field",
    "searchbox": "text search input field",
    "spinbutton": "number input field",
    "checkbox": "checkbox",
    "radio": "radio",
    "button": "button",
    "link": "link",
    "combobox": "list dropdown select",
    "listbox": "list",
    "svg-text": "letter digit",
    "textarea": "textarea text area",
    "img": "image icon picture",
    "heading": "heading section",
    "option": "option",
    "tab": "tab",
    "slider": "slider",
}


@dataclass(frozen=True)
class PageCandidates:
    """A page as the planner reads it: its candidates in document order, and every element on it."""

    everything: list[DescribedElement]
    candidates: list[DescribedElement]

    @cached_property
    def by_id(self) -> dict[str, DescribedElement]:
        return {element.node_id: element for element in self.everything}

    @cached_property
    def names(self) -> list[str]:
        """What each candidate is called: its name, else its text; "" for neither."""
        return [name(element) for element in self.candidates]

    @cached_property
    def kinds(self) -> list[str]:
        return [element.role or element.tag for element in self.candidates]

    @cached_property
    def around(self) -> list[list[set[str]]]:
        """For each candidate the words of itself and of the LEVELS - 1 blocks around it; shape (n, LEVELS)."""
        known: dict[str, set[str]] = {}
        return [[self._words(block, known) for block in blocks] for blocks in self.blocks]

    @cached_property
    def blocks(self) -> list[list[DescribedElement]]:
        """For each candidate itself and the LEVELS - 1 blocks around it; shape (n, LEVELS)."""
        return [self._blocks(element) for element in self.candidates]

    def _blocks(self, element: DescribedElement) -> list[DescribedElement]:
        """The element and its nearest ancestors with more text than the one below them, LEVELS in all; the last is
        repeated where there are fewer."""
        blocks, above = [element], element
        for _ in range(element.depth):  # a page may use an id twice, so parents could go round in a circle
            above = self.by_id.get(above.parent_id or "", above)
            if len(blocks) < LEVELS and above.text != blocks[-1].text:
                blocks.append(above)
        return blocks + [blocks[-1]] * (LEVELS - len(blocks))

    @staticmethod
    def _words(element: DescribedElement, known: dict[str, set[str]]) -> set[str]:
        if element.node_id not in known:
            known[element.node_id] = set(tokens(element.name)) | set(tokens(element.text))
        return known[element.node_id]

    @cached_property
    def words(self) -> set[str]:
        """All that the page says, and what its fields are called."""
        return {word for e in self.everything for text in (e.name, e.text[:TEXT]) for word in tokens(text)}

    @cached_property
    def boxes(self) -> np.ndarray:
        """x, y, width and height of each candidate, shape (n, 4); zeros for one without layout."""
        return np.array([element.bbox or (0, 0, 0, 0) for element in self.candidates], dtype=np.float32).reshape(-1, 4)

    @cached_property
    def lone_number(self) -> float | None:
        """The only number that stands by itself on the page, where nothing can be done to it: what a slider is at."""
        shown = [value for e in self.everything if not e.interactive and (value := number(e.text)) is not None]
        return shown[0] if len(set(shown)) == 1 else None

    @cached_property
    def months(self) -> list[tuple[int, int]]:
        """(year, month) that the page shows; year 0 where it shows none beside the month."""
        year = next(
            (int(found[0]) for e in self.everything if (found := _YEAR.findall(e.text)) and len(e.text) < 30), 0
        )
        found = [month_number(word) for e in self.everything if len(e.text) < 30 for word in tokens(e.text)]
        return [(year, month) for month in dict.fromkeys(found) if month]

    @cached_property
    def has_calendar(self) -> bool:
        days = {text for text in self.names if text.isdigit()}
        return all(str(day) in days for day in range(1, DAYS + 1))

    def month_distance(self, wanted: Sequence[Date]) -> int | None:
        """Months from the shown calendar to the first wanted date; None without calendar or date."""
        if not wanted or not self.has_calendar or len(self.months) != 1:
            return None
        year, month = self.months[0]
        return (wanted[0][0] - (year or wanted[0][0])) * 12 + wanted[0][1] - month


def read_page(root: Element, candidate_ids: Sequence[str]) -> PageCandidates:
    """The page with the candidates of these ids; without ids every element that is interactive or has a name."""
    everything = elements(root)
    wanted = set(candidate_ids)
    offered = [e for e in everything if (e.node_id in wanted if wanted else e.interactive or e.name)]
    return PageCandidates(everything, offered)


def name(element: DescribedElement) -> str:
    return element.name or element.text


def number(text: str) -> float | None:
    """The number that a text is; None for any other text."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def name_text(element: DescribedElement) -> str:
    """What the encoder reads as the element's name."""
    return " ".join(name(element).split()[:NAME_WORDS])


def markup_text(element: DescribedElement) -> str:
    """What the encoder reads of the markup: tag, role, and the words of id and classes."""
    return " ".join(dict.fromkeys([element.tag, element.role, *markup_words(element)])).strip()


def markup_words(element: DescribedElement) -> list[str]:
    """Words of the attributes that authors name things by: `icon-trash` is "icon" and "trash"."""
    get = element.attributes.get
    texts = [get(key, "") for key in ("id", "class", "name", "type", "placeholder", "title", "aria_label")]
    return [normal(word) for text in texts for word in _PARTS.findall(text)][: 2 * NAME_WORDS]


def implied_words(page: PageCandidates) -> list[set[str]]:
    """For each candidate the words for what people see and the markup does not say: its kind, its colour, its place
    among those of its kind."""
    counts: dict[str, int] = {}
    result = []
    totals = {kind: page.kinds.count(kind) for kind in set(page.kinds)}
    for element, kind in zip(page.candidates, page.kinds, strict=True):
        counts[kind] = counts.get(kind, 0) + 1
        words = set(_KIND_WORDS.get(kind, "").split()) | set(_KIND_WORDS.get(element.tag, "").split())
        words |= colour_words(element.attributes.get("bg_color", ""))
        if totals[kind] > 1:
            words |= ordinal_words(counts[kind]) | ({"last"} if counts[kind] == totals[kind] else set())
        result.append(words)
    return result


def colour_words(css: str) -> set[str]:
    """Names that people give to a colour "rgb(r, g, b)"; nothing for anything else or a transparent one."""
    parts = [float(part) for part in _NUMBER.findall(css)]
    if not css.startswith("rgb") or len(parts) < 3 or (len(parts) > 3 and parts[3] == 0):
        return set()
    if named := _NAMED.get((int(parts[0]), int(parts[1]), int(parts[2]))):
        return set(named.split())
    red, green, blue = (part / 255 for part in parts[:3])
    high, low = max(red, green, blue), min(red, green, blue)
    if high < DARK:
        return {"black"}
    if (high - low) / high < GREY:
        return {"white"} if high > PALE else {"grey", "gray"}
    pale = {"pink"} if high == red and low > PINK else set()
    hue = _hue(red, green, blue)
    return pale | set(next(names for limit, names in _HUES if hue < limit).split())


def _hue(red: float, green: float, blue: float) -> float:
    """The hue of a colour that is not grey, in degrees."""
    high = max(red, green, blue)
    spread = high - min(red, green, blue)
    if high == red:
        return 60 * ((green - blue) / spread) % 360
    if high == green:
        return 60 * ((blue - red) / spread) + 120
    return 60 * ((red - green) / spread) + 240
