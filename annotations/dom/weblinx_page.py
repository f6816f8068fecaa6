"""Recorded WebLINX pages as the pages of this project: well-formed XML with backend node ids and visible text in
`<text>` elements (`annotations.dom.tree`). The uid of an element becomes its backend node id.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import lxml.html
from lxml import etree

from annotations.dom.limits import check_size
from annotations.dom.tree import NODE_ID, TEXT, clean_text, tag_of

UID = "data-webtasks-id"  # attribute of every element in the recorded pages
LEFT_OUT = frozenset({"script", "noscript", "template"})  # never visible
UNWRAPPED_TEXT = frozenset({"style", "title", TEXT})  # their content is no visible text, or stands in <text> already
OWN_ATTRIBUTES = frozenset(
    {NODE_ID, "bounding_box_rect", UID.replace("-", "_")}
)  # written here, never taken from a page
FAR = 1e9  # pixels: beyond this a number is no place on a page
SMALL = 10  # pixels: an element smaller than this both ways is no candidate

_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_DECLARATION = re.compile(r"<\?xml\b")


def decode(data: bytes) -> tuple[str, str]:
    """(text, encoding) of a recorded page: UTF-8, or latin-1 where it is not (sources.md A1)."""
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def parse_html(html: str) -> etree._Element | None:
    """The root element as a browser-like parser sees the page; None for a page without elements. Raises PageError for
    one that is too large."""
    check_size(html)
    source = _without_declaration(html.removeprefix("\ufeff"))
    try:
        found = lxml.html.fromstring(source, parser=lxml.html.HTMLParser(huge_tree=True))
    except etree.ParserError:
        return None
    return found.getroottree().getroot()


def _without_declaration(html: str) -> str:
    """The page without its first XML declaration and the space before it, in one look at each character."""
    begins = _DECLARATION.search(html)
    ends = html.find(">", begins.end()) if begins else -1
    return html if begins is None or ends < 0 else html[: begins.start()].rstrip() + html[ends + 1 :]


def page_xml(html: str, boxes: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The page as XML, and the tag of every uid in document order; ("", {}) for a page without elements.

    `boxes` (uid -> x, y, width, height in pixels) give `bounding_box_rect`. Attribute names are written with `_` for
    `-`, as the pages of the other datasets have them. Scripts and comments are left out.
    """
    source = parse_html(html)
    if source is None:
        return "", {}
    root = etree.Element(_tag(tag_of(source)))
    tags: dict[str, str] = {}
    pending = [(source, root)]
    while pending:
        element, copy = pending.pop()
        uid = _copy_attributes(element, copy, boxes)
        if uid:
            tags.setdefault(uid, tag_of(copy))
        _add_text(copy, element.text, uid)
        inner = []
        for child in element:
            if isinstance(child.tag, str) and child.tag not in LEFT_OUT:
                inner.append((child, etree.SubElement(copy, _tag(child.tag))))
            _add_text(copy, child.tail, uid)
        pending += reversed(inner)
    return etree.tostring(root, encoding="unicode"), tags


@lru_cache(maxsize=1024)
def _tag(recorded: str) -> str:
    name = recorded.rpartition("}")[2].rpartition(":")[2]
    return name if _NAME.fullmatch(name) else "div"


@lru_cache(maxsize=4096)
def _attribute(recorded: str) -> str:
    """The name to write for a recorded attribute; "" for one that is left out."""
    name = recorded.replace("-", "_")
    return name if _NAME.fullmatch(name) and name not in OWN_ATTRIBUTES else ""


def _copy_attributes(element: etree._Element, copy: etree._Element, boxes: Mapping[str, Any]) -> str:
    """Copy the attributes that XML can hold; returns the element's uid, or ""."""
    uid = clean_text(element.get(UID, ""))
    if uid:
        copy.set(NODE_ID, uid)
    if (rect := rect_of(boxes.get(uid))) is not None:
        copy.set("bounding_box_rect", ",".join(_number(value) for value in rect))
    for name, value in element.attrib.items():
        if name := _attribute(name):
            copy.set(name, clean_text(value))
    return uid


def _add_text(parent: etree._Element, text: str | None, uid: str) -> None:
    """Add visible text as a `<text>` element with an id made of its parent's; space between elements stays space."""
    if not text:
        return
    text = clean_text(text)
    if text.strip() and parent.tag not in UNWRAPPED_TEXT:
        named = {NODE_ID: f"{uid}-{len(parent)}"} if uid else {}
        etree.SubElement(parent, TEXT, named).text = text
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _number(value: float) -> str:
    return f"{round(value, 2):g}" if abs(value) < 1e5 else str(round(value))


def rect_of(box: Any) -> tuple[float, float, float, float] | None:
    """x, y, width and height of a recorded box; None when it lacks one of them."""
    try:
        x, y, width, height = box["x"], box["y"], box["width"], box["height"]
        known = -FAR < x < FAR and -FAR < y < FAR and width < FAR and height < FAR
    except (KeyError, TypeError):
        return None
    return (x, y, width, height) if known else None


def candidates(uids: Iterable[str], boxes: Mapping[str, Any], viewport: tuple[float, float] | None) -> Iterator[str]:
    """The uids that a ranker may offer (sources.md A3.2): those with a box that is not empty, not tiny and does not
    begin below or right of the window. Without a known window the last rule is left out."""
    width, height = viewport or (math.inf, math.inf)
    for uid in uids:
        rect = rect_of(boxes.get(uid))
        if rect is None or rect[2] <= 0 or rect[3] <= 0 or (rect[2] < SMALL and rect[3] < SMALL):
            continue
        if rect[0] <= width and rect[1] <= height:
            yield uid
