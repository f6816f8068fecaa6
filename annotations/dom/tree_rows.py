"""A page's element tree as a bounded list of rows for people: the path to gold is open, other branches are read when
opened. Core.

Rows come as a flat stream of opening and closing marks, so that neither rendering nor a hostile page's depth can
exhaust the stack.
"""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from annotations.dom.text import attribute_words
from annotations.dom.tree import NODE_ID, TEXT, Element

MAX_ROWS = 200
MAX_CHILDREN = 50  # of one parent at a time; the rest is behind a "more" row
MAX_TEXT = 80


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
    pending: list[Iterator[Element | TreeRow]] = [iter([root])]
    while pending:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
            if pending:
                yield TreeRow("close")
            continue
        if isinstance(item, TreeRow):
            yield item
            continue
        row = _row(item, item in opened, gold_ids)
        yield row
        if row.kind == "open":
            pending.append(iter(_children_shown(item, kept)))


def children(
    root: Element, node_id: str, gold_ids: Collection[str], first: int = 0, last: int | None = None
) -> Iterator[TreeRow]:
    """The children `first` .. `last` of one element, all shut, at most 50; nothing when it is not on the page."""
    for element in _find_all(root, [node_id])[:1]:
        inner = _elements(element)[:last]
        for child in inner[first : first + MAX_CHILDREN]:
            yield _row(child, False, gold_ids)
        if first + MAX_CHILDREN < len(inner):
            yield _more(element, first + MAX_CHILDREN, len(inner))


def label(element: Element) -> str:
    """What an element says: its text, else the words of its attributes (a select's text is all its options)."""
    words, text = attribute_words(dict(element.attrib)), " ".join("".join(element.itertext()).split())
    return clipped((words or text) if element.tag == "select" else (text or words))


def own_text(element: Element) -> str:
    """The attributes' words and the text that stands directly in the element, not in its descendants."""
    texts = [element.text or "", *(child.text or "" for child in element if child.tag == TEXT)]
    text = " ".join(" ".join(texts).split())
    words = attribute_words({name: value for name, value in element.attrib.items() if value != text})
    return clipped(" · ".join(part for part in (words, text) if part))


def clipped(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _find_all(root: Element, node_ids: Collection[str]) -> list[Element]:
    wanted = set(node_ids)
    return [element for element in root.iter("*") if element.get(NODE_ID) in wanted] if wanted else []


def _elements(element: Element) -> list[Element]:
    """The children that are rows: neither text nor comments."""
    return [child for child in element if isinstance(child.tag, str) and child.tag != TEXT]


def _opened(root: Element, above: set[Element], max_rows: int) -> set[Element]:
    """The elements whose children are shown: those above gold always, others breadth first while rows are left."""
    rows = 1 + sum(min(len(_elements(element)), MAX_CHILDREN) for element in above)
    opened, waiting = set(above), deque([root])
    while waiting:
        element = waiting.popleft()
        inner = _elements(element)
        if element not in opened:
            rows += min(len(inner), MAX_CHILDREN)
            if rows > max_rows:
                break
            opened.add(element)
        waiting.extend(inner[:MAX_CHILDREN])
    return opened


def _children_shown(element: Element, kept: set[Element]) -> list[Element | TreeRow]:
    """An element's first children and those to keep further down, with "more" rows where some are left out."""
    inner = _elements(element)
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


def _row(element: Element, is_open: bool, gold_ids: Collection[str]) -> TreeRow:
    count = len(_elements(element))
    kind = "leaf" if not count else "open" if is_open else "shut"
    node_id = element.get(NODE_ID, "")
    return TreeRow(kind, node_id, str(element.tag), own_text(element), count, node_id in gold_ids)


def _more(element: Element, first: int, last: int) -> TreeRow:
    return TreeRow("more", element.get(NODE_ID, ""), children=last - first, first=first, last=last)
