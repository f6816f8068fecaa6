"""The functions that the processes of `processes.py` run on foreign pages: bytes in, bytes out. Core.

`FUNCTIONS` is all that they can be told to do. Answers are JSON unless something else is said.
"""

import gzip
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from annotations.dom import tree_rows
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark, MarkedRegion, MarkKind
from annotations.dom.prune import prune_tree
from annotations.dom.render import box_of, layout_width, render_page
from annotations.dom.taking import taking_of
from annotations.dom.tree import NODE_ID, TEXT, Element, node_ids, parse
from annotations.dom.weblinx_clean_html import clean_html_xml
from annotations.dom.weblinx_page import page_xml

MAX_TEXT = 300_000  # characters of a text tab; browsers stay quick below that
MAX_LINES = 2000  # of a pruned tree


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def outline(page: bytes) -> bytes:
    """The backend node ids in document order."""
    return _json(node_ids(parse(page)))


def outlines(page: bytes, lengths: Sequence[int]) -> bytes:
    """The `outline` of several pages that stand one behind the other, one a line; an empty line for a bad page."""
    answers, place = [], 0
    for length in lengths:
        try:
            answers.append(outline(page[place : place + length]))
        except PageError:
            answers.append(b"")
        place += length
    return b"\n".join(answers)


def tags(page: bytes) -> bytes:
    """The tag of each backend node id."""
    return _json({element.get(NODE_ID): str(element.tag) for element in parse(page).iter("*")})


def render(
    page: bytes,
    marks: Sequence[tuple[str, MarkKind, str]] = (),
    regions: Sequence[tuple[float, float, float, float, str]] = (),
    script: str = "",
    nonce: str = "",
) -> bytes:
    """The gzipped document that a browser shows. Level 1 halves the time of the default and is within a few per cent
    of its size on markup."""
    told = [Mark(*values) for values in marks], [MarkedRegion(*values) for values in regions]
    document = render_page(page, marks=told[0], regions=told[1], script=script, nonce=nonce)
    return gzip.compress(document.encode(), compresslevel=1, mtime=0)


def step_view(page: bytes, tab: str, gold: Collection[str], candidates: Collection[str]) -> bytes:
    """What one tab of the step page shows: the place and the text of each candidate, and `rows` or `text`."""
    root = parse(page)
    places: dict[str, int] = {}
    said: dict[str, str] = {}
    wanted = frozenset(candidates)
    for place, element in enumerate(root.iter("*")):
        node_id = element.get(NODE_ID)
        if node_id in wanted:
            places.setdefault(node_id, place)
            said[node_id] = tree_rows.label(element)  # the last of several, as the ranker's are
    answer: dict[str, Any] = {"places": places, "said": said}
    if tab == "tree":
        answer["rows"] = [asdict(row) for row in tree_rows.tree(root, gold)]
    elif tab == "accessibility":
        text = accessibility_tree(root)
        answer |= {"text": text[:MAX_TEXT], "characters": len(text)}
    return _json(answer)


def differences(pages: bytes, lengths: Sequence[int], most: int, shown: int) -> bytes:
    """The differences between two pages that stand one behind the other: the `counts` of what is added, removed and
    changed, and the first `shown` of each kind as [node id, role, content], changed ones as pairs of these. `elements`:
    of either page, which element each of these node ids is shown by, as texts are no elements of a rendered page."""
    from annotations.dom.differences import difference  # takes a second to load, and most processes never compare

    roots = [parse(page) for page in (pages[: lengths[0]], pages[lengths[0] :])]
    found = difference(*(_tree(root, most) for root in roots))
    kinds = {"added": found.added, "removed": found.removed, "changed": found.changed}
    told: dict[str, Any] = {"counts": {kind: len(rows) for kind, rows in kinds.items()}}
    for kind in ("added", "removed"):
        told[kind] = [_line(item) for item in kinds[kind][:shown]]
    told["changed"] = [(_line(change.before), _line(change.after)) for change in found.changed[:shown]]
    old = told["removed"] + [before for before, _ in told["changed"]]
    new = told["added"] + [after for _, after in told["changed"]]
    told["elements"] = [_elements_of(lines, root) for lines, root in zip((old, new), roots, strict=True)]
    return _json(told)


def _elements_of(lines: Iterable[tuple[str, str, str]], root: Element) -> dict[str, str]:
    shown = _shown_ids(root)
    return {node: shown[node] for node, _, _ in lines if node in shown}


def _tree(root: Element, most: int) -> str:
    """The page's accessibility tree. Raises PageError above so many elements."""
    tree = accessibility_tree(root)
    if tree.count("\n") >= most:
        raise PageError(f"one has more than {most:,} elements")
    return tree


def _line(item: Any) -> tuple[str, str, str]:
    return item.node_id, item.role, item.content


def children(page: bytes, node_id: str, gold: Collection[str], first: int, last: int | None) -> bytes:
    """The rows below one element."""
    return _json([asdict(row) for row in tree_rows.children(parse(page), node_id, gold, first, last)])


def rows(page: bytes, gold: Collection[str], candidates: Collection[str]) -> bytes:
    """The whole tree as flat rows."""
    return _json(tree_rows.page_rows(parse(page), gold, candidates))


def pruned(page: bytes, kept: Iterable[str]) -> bytes:
    """The page around the kept elements: {lines: [[depth, tag, text, node id]], cut, missing: not on the page}.

    Of a `<text>`, which agents may name too, the element around it is kept.
    """
    root = parse(page)
    shown, kept = _shown_ids(root), list(kept)
    found = [shown[node] for node in kept if node in shown]
    lines = list(_lines(prune_tree(root, found))) if found else []
    return _json({"lines": lines[:MAX_LINES], "cut": len(lines) > MAX_LINES, "missing": len(kept) - len(found)})


def _shown_ids(root: Element) -> dict[str, str]:
    """Node id -> the id of the element itself, for a `<text>` that of the nearest element around it. Of several with
    one id, the first counts."""
    shown: dict[str, str] = {}
    around: dict[Element, str | None] = {}
    for element in root.iter("*"):  # document order: a parent always comes before its children
        node_id = element.get(NODE_ID)
        own = node_id if element.tag != TEXT else None
        parent = element.getparent()
        near = around[element] = own or (None if parent is None else around.get(parent))
        if node_id is not None and near is not None:
            shown.setdefault(node_id, near)
    return shown


def _lines(root: Element) -> Iterable[tuple[int, str, str, str]]:
    depths = {root: 0}
    for element in root.iter("*"):  # document order: a parent always comes before its children
        parent = element.getparent()
        if parent in depths:
            depths[element] = depths[parent] + 1
        if element.tag != TEXT:
            yield depths[element], str(element.tag), tree_rows.own_text(element), element.get(NODE_ID, "")


def places(page: bytes, nodes: Collection[str]) -> bytes:
    """{width: of the window that the page was recorded in, null where nobody knows, boxes: of those of these elements
    that have one: left, top, width and height}."""
    root = parse(page)
    found: dict[str, list[float]] = {}
    for element in root.iter("*"):
        node_id = element.get(NODE_ID, "")
        if node_id in nodes and node_id not in found and (box := box_of(element)):
            found[node_id] = list(box)
    return _json({"width": layout_width(root), "boxes": found})


def taking(page: bytes, node_id: str) -> bytes:
    """What an element takes; null for what is no element of the page."""
    found = taking_of(parse(page), node_id)
    return _json(None if found is None else asdict(found))


def recording(page: bytes, boxes: dict[str, Any]) -> bytes:
    """A recording of WebLINX: one line of JSON with the tags of its uids, and the page as XML."""
    return _tags_and_xml(*page_xml(page.decode("utf-8", "surrogatepass"), boxes))


def chat_page(page: bytes) -> bytes:
    """A page of WebLINX's chat rows: one line of JSON with the tags of its uids, and the page as XML."""
    return _tags_and_xml(*clean_html_xml(page.decode("utf-8", "surrogatepass")))


def _tags_and_xml(xml: str, tags: dict[str, str]) -> bytes:
    return _json(tags) + b"\n" + xml.encode("utf-8", "surrogatepass")


FUNCTIONS: dict[str, Callable[..., bytes]] = {
    function.__name__: function
    for function in (
        outline,
        outlines,
        tags,
        render,
        step_view,
        differences,
        children,
        rows,
        pruned,
        places,
        taking,
        recording,
        chat_page,
    )
}
