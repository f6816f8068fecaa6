"""The lines of an accessibility tree taken apart: role, name and properties. Core."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from annotations.dom.differences.items import PageItem, items

_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"\s*({_TEXT})")
_PROPERTY = re.compile(rf"\b(\w+): ({_TEXT}|\S+)")


@dataclass(frozen=True, slots=True)
class PageLine:
    """One element as a tree shows it. Values of properties stay as they are written, with their quotes."""

    node_id: str
    role: str
    name: str
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)

    def item(self) -> PageItem:
        """The line without its tabs, as a tree writes it."""
        content = " ".join([f" {self.name!r}", *(f"{key}: {value}" for key, value in self.properties.items())])
        return PageItem(self.node_id, f"[{self.node_id}] {self.role}{content}", self.role, content)


def line_of(item: PageItem) -> PageLine:
    """The parts of an item. Where there is no name in quotes, the name is ""."""
    found = _NAME.match(item.content)
    rest = item.content[found.end() :] if found else item.content
    return PageLine(item.node_id, item.role, unquoted(found[1]) if found else "", dict(_PROPERTY.findall(rest)))


def unquoted(literal: str) -> str:
    """The text that a literal in quotes stands for."""
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return literal[1:-1]


@dataclass(frozen=True)
class PageLines:
    """The elements of a page, which can be found by id, by role, by name and by what they are inside of."""

    lines: Sequence[PageLine]
    depths: Sequence[int] = ()  # of each line, its tabs

    @classmethod
    def of(cls, tree: str) -> "PageLines":
        found = [(line_of(item), line.count("\t")) for line in tree.split("\n") for item in items(line)]
        return cls([line for line, _ in found], [depth for _, depth in found])

    @cached_property
    def _by_id(self) -> Mapping[str, PageLine]:
        return {line.node_id: line for line in reversed(self.lines)}

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], list[PageLine]]:
        found: dict[tuple[str, str], list[PageLine]] = {}
        for line in self.lines:
            found.setdefault((line.role, line.name), []).append(line)
        return found

    def at(self, node_id: str | None) -> PageLine | None:
        """The element of that id; of several lines the first."""
        return self._by_id.get(node_id or "")

    def inside(self, outer: PageLine) -> Sequence[PageLine]:
        """The elements inside of one of the page: the lines behind it that are further in."""
        place = next((place for place, line in enumerate(self.lines) if line is outer), len(self.lines))
        further = takewhile(lambda behind: self.depths[behind] > self.depths[place], range(place + 1, len(self.depths)))
        return [self.lines[behind] for behind in further]

    def around(self, inner: PageLine) -> Sequence[PageLine]:
        """The elements around one of the page, the nearest first: the lines before it that are further out."""
        place = next((place for place, line in enumerate(self.lines) if line is inner), 0)
        found, depth = [], self.depths[place] if self.depths else 0
        for before in range(place - 1, -1, -1):
            if self.depths[before] < depth:
                found.append(self.lines[before])
                depth = self.depths[before]
        return found

    def nearest(self, line: PageLine, others: Sequence[PageLine]) -> PageLine:
        """Of some lines of the page the one with the fewest lines between."""
        places = {id(one): place for place, one in enumerate(self.lines)}
        return min(others, key=lambda other: abs(places[id(other)] - places.get(id(line), 0)))

    def named(self, role: str, name: str) -> Sequence[PageLine]:
        return self._by_name.get((role, name), ())

    def of_role(self, role: str) -> list[PageLine]:
        return [line for line in self.lines if line.role == role]
