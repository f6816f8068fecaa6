"""A page that BrowserGym has recorded (`dom_object`, a DOMSnapshot of Chromium) as agents here see pages. Core.

What `page.js` does in a live page is done here to a recorded one: an element's number is its `bid`. Frames are left
out, as there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.environments.harnesses.browsergym_tasks import NamedElement
from agents.environments.protocol import PageView
from annotations.datasets.miniwob_dom import Node, PageMaker, describe, elements_of

LEFT_OUT = frozenset("SCRIPT STYLE LINK META NOSCRIPT TEMPLATE IFRAME".split())
OVERLAYS = frozenset("reward-display sync-task-cover click-canvas query".split())  # MiniWoB++'s own
OPTIONS = frozenset({"OPTION", "OPTGROUP"})
FIRST_UNNAMED = 500_000  # numbers of elements without a `bid`
ELEMENT, TEXT = 1, 3
ElementBox = tuple[float, float, float, float]


@dataclass(frozen=True)
class RecordedPage:
    """A page, and how BrowserGym names its elements."""

    view: PageView
    elements: dict[str, NamedElement]


def recorded_page(dom: Mapping[str, Any], url: str) -> RecordedPage:
    """The page of a snapshot. ValueError where it shows nothing, or is no snapshot."""
    try:
        reader = _Reader(dom)
        root = reader.tree()
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"this is no DOMSnapshot: {type(error).__name__}") from error
    if root is None:
        raise ValueError("the page shows nothing")
    made = PageMaker().page(root)
    nodes = [(made.of(node), node) for node in elements_of(root)]
    names = {element.node_id: describe(node, element, root) for element, node in nodes if element.is_candidate}
    named = {element.node_id: reader.named[node["ref"]] for element, node in nodes}
    return RecordedPage(PageView(made.html, url, len(made.elements), names), named)


class _Reader:
    """Reads the main document of a snapshot."""

    def __init__(self, dom: Mapping[str, Any]) -> None:
        self.strings: Sequence[str] = dom["strings"]
        document = dom["documents"][0]
        self.nodes, layout = document["nodes"], document["layout"]
        self.boxes: dict[int, ElementBox] = dict(zip(layout["nodeIndex"], map(tuple, layout["bounds"]), strict=True))
        self.children: dict[int, list[int]] = {}
        for place, parent in enumerate(self.nodes["parentIndex"]):
            self.children.setdefault(parent, []).append(place)
        self.values = {**self._rare("textValue"), **self._rare("inputValue")}
        self.checked = set(self.nodes["inputChecked"]["index"])
        self.chosen = set(self.nodes["optionSelected"]["index"])
        self.named: dict[int, NamedElement] = {}

    def _rare(self, name: str) -> dict[int, str]:
        rare = self.nodes[name]
        told = zip(rare["index"], rare["value"], strict=True)
        return {place: self.strings[value] if value >= 0 else "" for place, value in told}  # -1: an empty text

    def tree(self) -> Node | None:
        """The body and what is in sight below it."""
        bodies = (place for place in range(len(self.nodes["nodeType"])) if self._tag(place) == "BODY")
        body = next(bodies, None)
        return None if body is None else self._read(body)

    def _tag(self, place: int) -> str:
        name: int = self.nodes["nodeName"][place]
        return self.strings[name].upper()

    def _attributes(self, place: int) -> dict[str, str]:
        words = [self.strings[one] for one in self.nodes["attributes"][place]]
        return dict(zip(words[::2], words[1::2], strict=True))

    def _read(self, place: int, around: "_List | None" = None) -> Node | None:
        """An element with what is below it; None where it is not in sight. `around`: the list that an option is in."""
        tag, attributes = self._tag(place), self._attributes(place)
        box = around.box if around and tag in OPTIONS else self.boxes.get(place, (0.0, 0.0, 0.0, 0.0))
        if tag in LEFT_OUT or attributes.get("id") in OVERLAYS or not box[2] or not box[3]:
            return None
        bid = attributes.get("bid", "")
        ref = int(bid) if bid.isascii() and bid.isdecimal() else FIRST_UNNAMED + place
        node = _node(tag + (f"_{attributes.get('type', 'text')}" if tag == "INPUT" else ""), ref, box, attributes)
        own = _List(bid, box) if tag == "SELECT" else around
        if (value := self._value(place, tag, attributes)) is not None:
            node["value"] = value
        self._fill(node, place, own)
        words = self._words(place) if tag == "OPTION" else None
        point = {"x": box[0] + box[2] / 2, "y": box[1] + box[3] / 2}
        self.named[ref] = NamedElement(bid=own.bid if own else bid, option=words, isList=own is not None, point=point)
        return node

    def _fill(self, node: Node, place: int, around: "_List | None") -> None:
        """Put what is below an element into its node: the text alone, where there is nothing else."""
        below = [one for one in self.children.get(place, []) if self._counts(one)]
        texts = [self._text(one) for one in below]
        if all(text is not None for text in texts):
            node["text"] = " ".join(text for text in texts if text)
            return
        for one, text in zip(below, texts, strict=True):
            if text is not None:
                node["children"].append({"tag": "t", "text": text, "children": []})
            elif (found := self._read(one, around)) is not None:
                node["children"].append(found)

    def _counts(self, place: int) -> bool:
        return self.nodes["nodeType"][place] == ELEMENT or bool(self._text(place))

    def _text(self, place: int) -> str | None:
        """The words of a text node; None of anything else."""
        if self.nodes["nodeType"][place] != TEXT:
            return None
        value: int = self.nodes["nodeValue"][place]
        return self.strings[value].strip()

    def _words(self, place: int) -> str:
        return " ".join(filter(None, (self._text(one) for one in self.children.get(place, []))))

    def _value(self, place: int, tag: str, attributes: Mapping[str, str]) -> str | bool | None:
        if tag == "INPUT" and attributes.get("type") in ("checkbox", "radio"):
            return place in self.checked
        if tag in ("INPUT", "TEXTAREA"):
            return self.values.get(place, attributes.get("value", ""))
        if tag == "SELECT":  # told once it is another than the first
            options = list(self._options(place))
            chosen = [one for one in options if one in self.chosen]
            return None if chosen == options[:1] else "; ".join(map(self._words, chosen))
        return None

    def _options(self, place: int) -> Iterator[int]:
        for one in self.children.get(place, []):
            if self._tag(one) == "OPTION":
                yield one
            yield from self._options(one)


@dataclass(frozen=True)
class _List:
    """The list that an option is in."""

    bid: str
    box: ElementBox


def _node(tag: str, ref: int, box: ElementBox, attributes: Mapping[str, str]) -> Node:
    left, top, width, height = box
    place = {"left": left, "top": top, "width": width, "height": height}
    own = {"id": attributes.get("id", ""), "classes": attributes.get("class", ""), "bgColor": "rgba(0, 0, 0, 0)"}
    return {"tag": tag, "ref": ref, "children": [], **place, **own}
