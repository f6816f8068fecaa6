"""A page that a harness tells as HTML, as CUBE's tools do, as agents here see pages, and how CSS names its elements.
Core.

HTML alone says nothing of layout, of what a style hides, and of what was typed since: elements have no boxes, and only
what the markup itself hides is left out.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import count

import lxml.html

from agents.environments.protocol import PageView
from annotations.datasets.miniwob_dom import Node, PageMaker, describe, elements_of
from annotations.dom.limits import PageError, check_size
from annotations.dom.tree import Element, tag_of

LEFT_OUT = frozenset("head script style link meta noscript template iframe title".split())
NO_BOX = ' bounding_box_rect="0,0,0,0"'  # as pages of people's demonstrations have one of each element
HIDES = ("display:none", "visibility:hidden")


@dataclass(frozen=True)
class NamedByCss:
    """An element as actions name it that take CSS."""

    selector: str  # of its list, where it is an option
    option: str | None  # its value, where it is one
    is_list: bool


@dataclass(frozen=True)
class ToldPage:
    """A page, and how CSS names its elements."""

    view: PageView
    elements: dict[str, NamedByCss]


def told_page(html: str, url: str) -> ToldPage:
    """The page of this HTML. ValueError where it shows nothing, or is too large."""
    try:
        check_size(html)
    except PageError as error:
        raise ValueError(str(error)) from error
    body = lxml.html.document_fromstring(html or "<body>").find("body")
    reader = _MarkupReader(Counter() if body is None else Counter(one.get("id", "") for one in body.iter("*")))
    root = None if body is None else reader.read(body, "body", None)
    if root is None or not root["children"]:
        raise ValueError("the page shows nothing")
    made = PageMaker().page(root)
    nodes = [(made.of(node), node) for node in elements_of(root)]
    names = {element.node_id: describe(node, element, root) for element, node in nodes if element.is_candidate}
    named = {element.node_id: reader.named[node["ref"]] for element, node in nodes}
    return ToldPage(PageView(made.html.replace(NO_BOX, ""), url, len(made.elements), names), named)


class _MarkupReader:
    """Reads elements in document order and numbers them. `ids`: how often each is there, hidden or not."""

    def __init__(self, ids: Counter[str]) -> None:
        self.named: dict[int, NamedByCss] = {}
        self._numbers = count(1)
        self._ids = ids

    def read(self, element: Element, selector: str, around: str | None) -> Node | None:
        """An element with what is below it; None where it is hidden, or no element. `around`: the list that an option
        is in, by its selector."""
        if not isinstance(element.tag, str) or element.tag in LEFT_OUT or _is_hidden(element):
            return None
        own = element.get("id", "")
        if own and self._ids[own] == 1 and '"' not in own and "\\" not in own:
            selector = f'[id="{own}"]'  # whatever an id is made of
        list_ = selector if element.tag == "select" else around
        ref = next(self._numbers)
        value = element.get("value", _text(element)) if element.tag == "option" else None
        self.named[ref] = NamedByCss(list_ or selector, value if around else None, list_ is not None)
        node = _node(element, ref)
        self._fill(node, element, selector, list_)
        return node

    def _fill(self, node: Node, element: Element, selector: str, around: str | None) -> None:
        texts, counts = [element.text or ""], dict[str, int]()
        for child in element:
            if isinstance(child.tag, str):
                counts[child.tag] = counts.get(child.tag, 0) + 1
                place = f"{selector} > {child.tag}:nth-of-type({counts[child.tag]})"
                if (found := self.read(child, place, around)) is not None:
                    _say(node, texts.pop() if texts else "")
                    node["children"].append(found)
            texts = ["".join([*texts, child.tail or ""])]
        if node["children"]:
            _say(node, texts[0])
        else:
            node["text"] = " ".join("".join(texts).split())


def _say(node: Node, text: str) -> None:
    if words := " ".join(text.split()):
        node["children"].append({"tag": "t", "text": words, "children": []})


def _node(element: Element, ref: int) -> Node:
    kind = element.get("type", "text").lower()
    tag = tag_of(element).upper() + (f"_{kind}" if element.tag == "input" else "")
    node: Node = {"tag": tag, "ref": ref, "children": [], "left": 0, "top": 0, "width": 0, "height": 0}
    node |= {"id": element.get("id", ""), "classes": element.get("class", ""), "bgColor": "rgba(0, 0, 0, 0)"}
    if element.tag == "input":
        node["value"] = "checked" in element.attrib if kind in ("checkbox", "radio") else element.get("value", "")
    return node


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _is_hidden(element: Element) -> bool:
    style = "".join(element.get("style", "").lower().split())
    kind = element.get("type", "").lower()
    return "hidden" in element.attrib or kind == "hidden" or any(word in style for word in HIDES)
