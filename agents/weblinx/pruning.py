"""Cut a page down to the candidates and what surrounds them, and write it without angle brackets (A6.3, A6.4)."""

import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from itertools import islice

import lxml.html
from lxml.html import HtmlElement

from annotations.dom.weblinx_page import UID

MAX_DEPTH = 1
MAX_DESCENDANTS = 5
MAX_SIBLINGS = 2  # on each side
POSTFIX = "\nAbove are the pruned HTML contents of the page."  # counts towards the page's budget
DROPPED_PREFIXES = ("_", "ng", "x-", "xml", "js", "data-")
DROPPED_NAMES = frozenset({"id"})
ENTITIES = {
    "&quot;": '"',
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": " ",
    "&ndash;": "-",
    "&rsquo;": "'",
    "&lsquo;": "'",
    "&ldquo;": '"',
    "&rdquo;": '"',
    "&#39;": "'",
    "&#40;": "(",
    "&#41;": ")",
}


def prune(page: HtmlElement, candidates: Collection[str]) -> HtmlElement:
    """A copy of the page with the candidates (uids), their ancestors, nearest descendants and siblings.

    Only candidates keep their uid; comments and attributes that mean nothing to a reader are dropped.
    """
    kept = _kept_uids(page, candidates)
    pruned = deepcopy(page)
    for node in reversed(pruned.xpath("//*")):
        _keep_or_drop(node, kept, candidates)
    for node in list(pruned.iter()):
        if isinstance(node, lxml.html.HtmlComment):
            node.drop_tree()
        elif isinstance(node.tag, str):
            _clean_attributes(node, candidates)
    return pruned


def render(page: HtmlElement) -> str:
    """The page as text: round brackets for angle ones, closing tags without a name, one line and the postfix.

    An element's text follows its tag at once, "(aLogin)"; elements without closing tag stay open.
    """
    text = lxml.html.tostring(page, encoding="unicode")
    text = re.sub(r"<text>(.*?)</text>", r"\1", text)
    text = text.replace("/>", "$/$>")
    text = re.sub(r"</(.+?)>", ")", text)
    text = re.sub(r"<(.+?)>", r"(\1", text)
    text = text.replace("$/$", ")")
    for entity, character in ENTITIES.items():
        text = text.replace(entity, character)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\) +\)", "))", text)
    text = re.sub(r"\( +\(", "((", text)
    return text + POSTFIX


def _kept_uids(page: HtmlElement, candidates: Collection[str]) -> set[str]:
    """Uids of the nodes to keep; "", which stands for all nodes without uid, as soon as one relative has none."""
    first: dict[str, HtmlElement] = {}
    for node in page.xpath(f"//*[@{UID}]"):
        first.setdefault(node.get(UID), node)
    kept: set[str] = set()
    for uid in candidates:
        if uid in first:
            kept.update(node.attrib.get(UID, "") for node in _surroundings(first[uid]))
    return kept


def _surroundings(candidate: HtmlElement) -> Iterator[HtmlElement]:
    yield candidate
    yield from candidate.iterancestors()
    yield from islice(_descendants(candidate, MAX_DEPTH), MAX_DESCENDANTS)
    parent = candidate.getparent()
    siblings = [] if parent is None else [node for node in parent if node.tag != "text"]
    if candidate in siblings:
        place = siblings.index(candidate)
        yield from siblings[max(0, place - MAX_SIBLINGS) : place + MAX_SIBLINGS + 1]


def _descendants(node: HtmlElement, depth: int) -> Iterator[HtmlElement]:
    for child in node:
        yield child
        if depth:
            yield from _descendants(child, depth - 1)


def _keep_or_drop(node: HtmlElement, kept: Collection[str], candidates: Collection[str]) -> None:
    """Remove the node, or strip the uid of a non-candidate and put its only child in place of a bare wrapper."""
    parent = node.getparent()
    if parent is None:
        if node.attrib.get(UID, "") not in candidates:
            node.attrib.pop(UID, None)
        return
    is_text = node.tag == "text"  # lives and dies with its parent
    uid = (parent if is_text else node).attrib.get(UID, "")
    if uid not in kept:
        parent.remove(node)  # with the text behind it
        return
    if is_text or uid not in candidates:
        node.attrib.pop(UID, None)
    children = list(node)
    if not node.attrib and not is_text and len(children) <= 1 and all(child.tag != "text" for child in children):
        for child in children:
            node.addprevious(child)
        parent.remove(node)


def _clean_attributes(node: HtmlElement, candidates: Collection[str]) -> None:
    if UID in node.attrib and node.attrib[UID] not in candidates:
        del node.attrib[UID]
    for name in list(node.attrib):
        if name != UID and (name.startswith(DROPPED_PREFIXES) or name in DROPPED_NAMES):
            del node.attrib[name]
