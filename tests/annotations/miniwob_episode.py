"""Write MiniWoB++ episodes as the recorder did: every event twice, each time with the page."""

import json
from collections.abc import Callable
from typing import Any

Node = dict[str, Any]
ENTER, SPACE, ARROW_DOWN, TAB, CTRL = 13, 32, 40, 9, 17


def element(tag: str, ref: int, *children: Node, **values: Any) -> Node:
    """One tree node; `values` are `id`, `text`, `value`, `classes`, `bgColor`."""
    node = {
        "tag": tag,
        "ref": ref,
        "left": 2,
        "top": 60,
        "width": 96.5,
        "height": 21,
        "children": list(children),
        "id": "",
        "classes": "",
        "bgColor": "rgba(0, 0, 0, 0)",
        "fgColor": "rgb(0, 0, 0)",
    }
    if not children:
        node["text"] = ""
    if tag == "TEXTAREA" or tag.startswith("INPUT_"):
        node["value"] = ""
    return node | values


def words(text: str) -> Node:
    """A text node between elements."""
    return {"tag": "t", "ref": -1, "left": 2, "top": 60, "width": 9, "height": 9, "children": [], "text": text}


def body(*children: Node) -> Node:
    """The frame around every task; refs from 900 on."""
    return element("BODY", 900, element("DIV", 901, element("DIV", 902, *children, id="area"), id="wrap"))


def find(node: Node, ref: int | None) -> Node | None:
    """The first node with this ref."""
    if node["ref"] == ref:
        return node
    return next((found for child in node["children"] if (found := find(child, ref))), None)


def unchanged(page: Node) -> None:
    """An event that the page ignores."""


class Recorder:
    """Performs gestures on a page and keeps the states."""

    def __init__(self, page: Node) -> None:
        self.page = page
        self.focus = 900
        self.states: list[dict[str, Any]] = []
        self._add(None, None)

    def _add(self, action: dict[str, Any] | None, target: int | None) -> None:
        page = json.loads(json.dumps(self.page))  # a copy, in a fifth of the time of copy.deepcopy
        for ref, mark in ((target, "recordingTarget"), (self.focus, "focused")):
            node = find(page, ref)
            if node is not None:
                node[mark] = True
        self.states.append({"time": len(self.states), "action": action, "dom": page})

    def event(self, kind: str, target: int | None, effect: Callable[[Node], None] = unchanged, **values: int) -> None:
        """One event, before and after the page's handlers (`effect`)."""
        self._add({"type": kind, "timing": 1, **values}, target)
        effect(self.page)
        self._add({"type": kind, "timing": 3, **values}, target)

    def press(self, target: int | None, x: int = 50, y: int = 90, effect: Callable[[Node], None] = unchanged) -> None:
        self.event("mousedown", target, effect, x=x, y=y)
        self.focus = target or 900
        self.event("mouseup", target, x=x, y=y)

    def click(self, target: int | None, effect: Callable[[Node], None] = unchanged, y: int = 90) -> None:
        self.press(target, y=y)
        self.event("click", target, effect, x=50, y=y)

    def key(self, target: int, code: int, effect: Callable[[Node], None] = unchanged) -> None:
        """A key that shows its effect when it comes up, as the browser's own editing does."""
        self.focus = target
        self.event("keydown", target, keyCode=code, charCode=0)
        effect(self.page)
        self.event("keyup", target, keyCode=code, charCode=0)

    def type(self, target: int, text: str) -> None:
        """Append text to a field by keys."""
        self.focus = target
        for letter in text:
            self.event("keydown", target, keyCode=ord(letter.upper()), charCode=0)
            self.event("keypress", target, keyCode=ord(letter), charCode=ord(letter))
            set_value(target, find(self.page, target)["value"] + letter)(self.page)
            self.event("keyup", target, keyCode=ord(letter.upper()), charCode=0)


def set_value(ref: int, value: str | bool) -> Callable[[Node], None]:
    """An effect: the field has this value."""

    def effect(page: Node) -> None:
        find(page, ref)["value"] = value

    return effect
