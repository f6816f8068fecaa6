"""A page's element tree as rows for people. Core.

`tree` is the bounded one of a step's page: the path to gold is open, other branches are read when opened. Its rows come
as a flat stream of opening and closing marks, so that neither rendering nor a hostile page's depth can exhaust the
stack. `page_rows` is the whole one, for a list in the browser that draws only the rows in view.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from annotations.dom.text import SALIENT_ATTRIBUTES, attribute_words
from annotations.dom.tree import NODE_ID, TEXT, Element

MAX_ROWS = 200
MAX_CHILDREN = 50  # of one parent at a time; the rest is behind a "more" row
MAX_TEXT = 80
SILENT = frozenset(("", "hidden", "none", "presentation", "null", "undefined", "true", "false"))

Row = TypeVar("Row")
# Depth from 0, backend node id, tag, what it says, whether it is gold, whether it is a candidate.
PageTreeRow = list[Any]


@dataclass(frozen=True)
class TreeRow:
    """One mark of the stream. `kind`: `open` (its children follow, until its `close`), `shut` (its children are read
    when it is opened), `leaf`, `more` (stands for the children `first` .. `last` of `node_id`, which are read when it
    is opened) or `close`."""

    kind: str
    node_id: str = ""
    tag: str = ""
    text: str = ""
    children: int = 0
    gold: bool = False
    first: int = 0
    last: int = 0


def tree(root: Element, gold_ids: Collection[str], max_rows: int = MAX_ROWS) -> Iterator[TreeRow]:
    """The page from its root: the ancestors of gold elements are open, then whatever is nearest to the root."""
    gold = _find_all(root, gold_ids)
    above = {ancestor for element in gold for ancestor in element.iterancestors()}
    kept = above | set(gold)
    opened = _opened(root, above, max_rows)

    def row(depth: int, element: Element, text: str, inner: list[Element]) -> TreeRow:
        return _row(element, text, inner, element in opened, gold_ids)

    def below(element: Element, inner: list[Element]) -> Sequence[Element | TreeRow]:
        return _children_shown(element, inner, kept) if element in opened else []

    inside = 0
    for depth, shown in _walk(root, row, below):
        yield from [TreeRow("close")] * (inside - depth)
        yield shown
        inside = depth + (shown.kind == "open")
    yield from [TreeRow("close")] * inside


def page_rows(root: Element, gold: Collection[str], candidates: Collection[str]) -> list[PageTreeRow]:
    """One row per element in document order; texts are part of what the element says that they stand in."""
    gold, candidates = frozenset(gold), frozenset(candidates)

    def row(depth: int, element: Element, text: str, inner: list[Element]) -> PageTreeRow:
        node_id = element.get(NODE_ID, "")
        return [depth, node_id, element.tag, _said(element, text), node_id in gold, node_id in candidates]

    return [shown for _, shown in _walk(root, row, lambda element, inner: inner)]


def _walk(
    root: Element,
    row: Callable[[int, Element, str, list[Element]], Row],
    below: Callable[[Element, list[Element]], Sequence[Element | Row]],
) -> Iterator[tuple[int, Row]]:
    """Depth and row of each element in document order, from its own text and its children; `below` chooses which of
    these are walked, or what stands for them."""
    pending: list[tuple[int, Element | Row]] = [(0, root)]
    while pending:
        depth, item = pending.pop()
        if not isinstance(item, Element):
            yield depth, item
            continue
        text, inner = _parts(item)
        yield depth, row(depth, item, text, inner)
        pending += [(depth + 1, child) for child in reversed(below(item, inner))]


def children(
    root: Element, node_id: str, gold_ids: Collection[str], first: int = 0, last: int | None = None
) -> Iterator[TreeRow]:
    """The children `first` .. `last` of one element, all shut, at most 50; nothing when it is not on the page."""
    for element in _find_all(root, [node_id])[:1]:
        inner = _parts(element)[1][:last]
        for child in inner[first : first + MAX_CHILDREN]:
            yield _row(child, *_parts(child), False, gold_ids)
        if first + MAX_CHILDREN < len(inner):
            yield _more(element, first + MAX_CHILDREN, len(inner))


def label(element: Element) -> str:
    """What an element says: its text, else the words of its attributes (a select's text is all its options)."""
    words, text = attribute_words(dict(element.attrib)), " ".join("".join(element.itertext()).split())
    return _clipped((words or text) if element.tag == "select" else (text or words))


def own_text(element: Element) -> str:
    """What the attributes say and the text that stands directly in the element, not in its descendants."""
    return _said(element, _parts(element)[0])


def _said(element: Element, text: str) -> str:
    """What its attributes and its own text say. Words are not counted, as a page has many elements."""
    text = " ".join(text.split()) if text and not text.isspace() else ""
    if attributes := element.attrib:
        said = [
            value
            for name, value in attributes.items()
            if name in SALIENT_ATTRIBUTES and value not in SILENT and value != text and not value.startswith("http")
        ]
        words = " ".join(dict.fromkeys(said))
        text = f"{words} · {text}" if words and text else words or text
    return _clipped(text)


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _find_all(root: Element, node_ids: Collection[str]) -> list[Element]:
    wanted = set(node_ids)
    return [element for element in root.iter("*") if element.get(NODE_ID) in wanted] if wanted else []


def _parts(element: Element) -> tuple[str, list[Element]]:
    """The text that stands directly in an element, and its children that are rows: neither text nor comments."""
    text, inner = element.text or "", []
    for child in element:
        if child.tag == TEXT:
            text = f"{text} {child.text or ''}"
        elif isinstance(child.tag, str):
            inner.append(child)
    return text, inner


def _opened(root: Element, above: set[Element], max_rows: int) -> set[Element]:
    """The elements whose children are shown: those above gold always, others breadth first while rows are left."""
    rows = 1 + sum(min(len(_parts(element)[1]), MAX_CHILDREN) for element in above)
    opened, waiting = set(above), deque([root])
    while waiting:
        element = waiting.popleft()
        inner = _parts(element)[1]
        if element not in opened:
            rows += min(len(inner), MAX_CHILDREN)
            if rows > max_rows:
                break
            opened.add(element)
        waiting.extend(inner[:MAX_CHILDREN])
    return opened


def _children_shown(element: Element, inner: list[Element], kept: set[Element]) -> list[Element | TreeRow]:
    """An element's first children and those to keep further down, with "more" rows where some are left out."""
    shown: list[Element | TreeRow] = []
    reached = 0
    for index, child in enumerate(inner):
        if index < MAX_CHILDREN or child in kept:
            if index > reached:
                shown.append(_more(element, reached, index))
            shown.append(child)
            reached = index + 1
    if reached < len(inner):
        shown.append(_more(element, reached, len(inner)))
    return shown


def _row(element: Element, text: str, inner: list[Element], is_open: bool, gold_ids: Collection[str]) -> TreeRow:
    kind = "leaf" if not inner else "open" if is_open else "shut"
    node_id = element.get(NODE_ID, "")
    return TreeRow(kind, node_id, str(element.tag), _said(element, text), len(inner), node_id in gold_ids)


def _more(element: Element, first: int, last: int) -> TreeRow:
    return TreeRow("more", element.get(NODE_ID, ""), children=last - first, first=first, last=last)
