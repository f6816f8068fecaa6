"""MiniWoB++ element trees (`getDOMInfo`) as pages in the shape of Mind2Web's `cleaned_html`.

A tree node is a dict: `tag` ("DIV", "INPUT_text", "t" for a text node between elements), `ref`, `left`,
`top`, `width`, `height`, `children`, and, but for text nodes, `id`, `classes`, `text`, `value`, `bgColor`; on
live pages also `told`: attributes that no demonstration was recorded with.
Refs repeat within one tree (old wrappers keep those of an earlier episode) and all of them change when an
episode ends, so pages carry ids of their own.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from annotations.dom.tree import clean_text

Node = dict[str, Any]
Key = tuple[int, str]  # ref and tag: what identifies an element from one state to the next

TEXT_NODE = "t"
TEXT_INPUTS = "text password number date time datetime-local month week email search tel url"
FIELDS = frozenset({"TEXTAREA"} | {f"INPUT_{kind}" for kind in TEXT_INPUTS.split()})
# Elements that do the same wherever they are clicked, even when they have children.
CONTROLS = frozenset({"A", "BUTTON", "LABEL", "OPTION", "SELECT"})
PASSED_ON = frozenset({"A", "BUTTON", "LABEL"})  # of those, a click on what they hold is one on them
FRAME_IDS = ("wrap", "area")
ROLES = {"a": "link", "textarea": "textbox", "select": "combobox", "svg-text": "text"}
INPUT_ROLES = {"button": "button", "submit": "button", "checkbox": "checkbox", "radio": "radio", "number": "spinbutton"}
FIRST_SPARE_ID = 1_000_000  # ids of elements whose ref is taken; no recorded ref comes near
MAX_NAME = 80
LABEL_LEVELS = 2  # how far above an input its name may stand

_SPECIAL = re.compile(r'[&<>"\t\n\r]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_NOT_IN_NAMES = re.compile(r"[^\w.-]+", re.ASCII)


def key_of(node: Node) -> Key:
    """What identifies an element from one state to the next: ref and tag."""
    return node["ref"], node["tag"]


def is_field(node: Node) -> bool:
    """Whether text is typed into this element."""
    return node["tag"] in FIELDS


def elements_of(root: Node) -> Iterator[Node]:
    """All elements in document order, without text nodes."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node["tag"] != TEXT_NODE:
            yield node
            waiting.extend(reversed(node["children"]))


def has_elements(node: Node) -> bool:
    """Whether the node has children other than text nodes."""
    return any(child["tag"] != TEXT_NODE for child in node["children"])


def places_alike(root: Node, target: Node) -> list[Node]:
    """The other elements where a click does what it does on `target`: the link, button or label that it is or stands
    in, with what this holds. None where that is uncertain, as another control or a second input stands in there."""
    around = [node for node in _path(root, target) if node["tag"] in PASSED_ON]
    held = list(elements_of(around[-1])) if around else []
    if sum(node["tag"] in PASSED_ON for node in held) > 1 or sum(map(_is_input, held)) > 1:
        return []
    return [node for node in held if node is not target]


def text_of(node: Node) -> str:
    """All text below a node, white space collapsed."""
    parts = [node.get("text") or ""] + [text_of(child) for child in node["children"]]
    return " ".join(" ".join(parts).split())


@dataclass(frozen=True, slots=True)
class MiniwobElement:
    """One element of a page."""

    node_id: str
    tag: str
    attributes: dict[str, str]  # as in the page, with `backend_node_id`
    is_candidate: bool  # leaf, control or text carrier: worth ranking

    def attributes_json(self) -> str:
        return json.dumps(self.attributes, ensure_ascii=False)


@dataclass(frozen=True)
class MiniwobPage:
    """One state as XML text, and its elements in document order by `id()` of their tree nodes."""

    html: str
    elements: dict[int, MiniwobElement]

    def of(self, node: Node) -> MiniwobElement:
        return self.elements[id(node)]


class PageMaker:
    """Makes the pages of one episode, in the order of time; an element keeps its id from page to page."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, str, int], str] = {}  # (ref, tag, how many before it) -> id
        self._used: set[str] = set()
        self._spare = count(FIRST_SPARE_ID)
        self._last: Node | None = None
        self._pages: dict[int, MiniwobPage] = {}  # by id() of the root: several steps may start from one state

    def page(self, root: Node) -> MiniwobPage:
        """The page of one state; raises KeyError, TypeError or ValueError for a malformed tree."""
        if id(root) not in self._pages:
            self._number(root)
            elements: dict[int, MiniwobElement] = {}
            lines: list[str] = []
            _write(root, self._node_ids(root), elements, lines)
            self._pages[id(root)] = MiniwobPage("\n".join(lines), elements)
            self._last = root
        return self._pages[id(root)]

    def _node_ids(self, root: Node) -> Iterator[str]:
        return (self._ids[key] for key, _ in _numbered(root))

    def _number(self, root: Node) -> None:
        """Give every element of this page an id; one that was on the page before keeps its id."""
        keys = _numbered(root)
        if self._last is not None and _renumbered(self._last, root):
            old = {id(node): self._ids[key] for key, node in _numbered(self._last)}
            inherited = dict(_same_places(self._last, root))
            self._ids = {key: old[inherited[id(node)]] for key, node in keys if id(node) in inherited}
        for key, _ in keys:
            if key not in self._ids:
                wanted = f"{key[0]:d}"
                self._ids[key] = wanted if wanted not in self._used else str(next(self._spare))
                self._used.add(self._ids[key])


def _numbered(root: Node) -> list[tuple[tuple[int, str, int], Node]]:
    """Every element with a key that is unique in its tree."""
    seen: dict[Key, int] = {}
    keys = []
    for node in elements_of(root):
        key = key_of(node)
        before = seen[key] = seen.get(key, -1) + 1
        keys.append(((*key, before), node))
    return keys


def _renumbered(old: Node, new: Node) -> bool:
    """Whether the recorder gave all elements new refs between two pages: they then count up in document order."""
    before, after = [key_of(node) for node in elements_of(old)], [key_of(node) for node in elements_of(new)]
    counts_up = all(ref == after[0][0] + place for place, (ref, _) in enumerate(after))
    return counts_up and any(one != other for one, other in zip(before, after, strict=False))


def _is_frame(node: Node) -> bool:
    """Whether the node belongs to the frame that MiniWoB++ puts around every task; frame elements outlive all changes
    of the page."""
    return node["tag"] == "BODY" or node["id"] in FRAME_IDS


def _same_places(old: Node, new: Node) -> Iterator[tuple[int, int]]:
    """(`id()` of the new node, of the old one) for elements with the same tag and id in the same order."""
    yield id(new), id(old)
    before = [child for child in old["children"] if child["tag"] != TEXT_NODE]
    start = 0
    for child in new["children"]:
        same = (place for place in range(start, len(before)) if _kind(before[place]) == _kind(child))
        place = next(same, None)
        if place is not None:
            yield from _same_places(before[place], child)
            start = place + 1


def _kind(node: Node) -> tuple[str, str]:
    return node["tag"], node.get("id", "")


def _write(node: Node, ids: Iterator[str], elements: dict[int, MiniwobElement], lines: list[str]) -> None:
    """Append a node's XML, one tag or text a line; `ids` runs in document order."""
    element = elements[id(node)] = _element(node, next(ids))
    head = "".join(f' {name}="{_escape(value)}"' for name, value in element.attributes.items())
    text, children = node.get("text"), node["children"]
    if not children and not (text and text.strip()):
        lines.append(f"<{element.tag}{head}/>")
        return
    lines.append(f"<{element.tag}{head}>")
    if text and text.strip() and not is_field(node):  # the text of a TEXTAREA is its first value, not its current
        lines.append(f"<text>{_escape(clean_text(text))}</text>")
    for child in children:
        if child["tag"] != TEXT_NODE:
            _write(child, ids, elements, lines)
        elif child["text"].strip():
            lines.append(f"<text>{_escape(clean_text(child['text']))}</text>")
    lines.append(f"</{element.tag}>")


def _element(node: Node, node_id: str) -> MiniwobElement:
    if not isinstance(node["children"], list):
        raise TypeError("children are no list")
    tag, _, kind = node["tag"].partition("_")
    tag = _tag_name(tag)
    attributes = {"backend_node_id": node_id, **_own_attributes(node, kind)}
    _add_value(attributes, tag, kind, node.get("value"))
    has_text = bool(node.get("text")) or any(child["tag"] == TEXT_NODE for child in node["children"])
    is_control = node["tag"] in CONTROLS or tag in ("input", "textarea")
    is_leaf = not node["children"]
    is_coloured = is_leaf and not is_control and (not has_text or tag == "svg-text")
    if is_coloured and not node["bgColor"].startswith("rgba(0, 0, 0, 0"):
        attributes["bg_color"] = node["bgColor"]  # all that tells the boxes and figures of the colour tasks apart
    attributes["bounding_box_rect"] = f"{node['left']:g},{node['top']:g},{node['width']:g},{node['height']:g}"
    if is_control:
        attributes["is_clickable"] = "true"
    is_candidate = (is_leaf or is_control or has_text) and tag != "br" and not _is_frame(node)
    return MiniwobElement(node_id, tag, attributes, is_candidate)


def _own_attributes(node: Node, kind: str) -> dict[str, str]:
    """The attributes that a page's author writes, cleaned: type, id, class. Classes of svg elements were recorded as {}
    and are left out."""
    written = {**node.get("told", {}), "type": kind, "id": node["id"].strip(), "class": node.get("classes")}
    return {name: clean_text(value) for name, value in written.items() if value and isinstance(value, str)}


def _add_value(attributes: dict[str, str], tag: str, kind: str, value: Any) -> None:
    """The live value under Mind2Web's names (sources.md M1.4); booleans tell whether a box is checked."""
    if isinstance(value, bool):
        if value:
            attributes["input_checked"] = "true"
    elif value is not None and not isinstance(value, str):
        raise TypeError("a value is neither text nor boolean")
    elif value:
        name = "text_value" if tag == "textarea" else "value" if kind in ("button", "submit") else "input_value"
        attributes[name] = clean_text(value)


def _tag_name(tag: str) -> str:
    """A tag as XML takes it; `text` is what pages call their text elements."""
    name = _NOT_IN_NAMES.sub("-", tag.lower())
    return "svg-text" if name == "text" else name if name[:1].isalpha() else f"_{name}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], text)


def describe(node: Node, element: MiniwobElement, root: Node) -> str:
    """`[role]  name` of an element, as action representations show it; an icon is named by its id or class."""
    role = ROLES.get(element.tag, element.tag)
    if element.tag == "input":
        role = INPUT_ROLES.get(element.attributes["type"], "textbox")
    if element.tag in ("input", "textarea"):
        name = element.attributes.get("value") or _label(node, root)
    else:
        name = "" if element.tag == "select" else text_of(node)
    name = name or element.attributes.get("id") or element.attributes.get("class", "")
    name = clean_text(name)
    return f"[{role}]  {name if len(name) <= MAX_NAME else name[: MAX_NAME - 3] + '...'}"


def _label(node: Node, root: Node) -> str:
    """The text that names an input: what stands in the smallest block around it that holds no other input."""
    around = list(_path(root, node))[:-1]
    for block in reversed(around[-LABEL_LEVELS:]):
        if _is_frame(block) or block["tag"] == "FORM" or sum(_is_input(other) for other in elements_of(block)) > 1:
            return ""
        texts = [text_of(child) for child in block["children"] if child["tag"] not in ("BUTTON", "A")]
        if any(texts):
            return " ".join(text for text in texts if text)
    return ""


def _is_input(node: Node) -> bool:
    tag: str = node["tag"]
    return tag.startswith("INPUT_") or tag == "TEXTAREA"


def _path(root: Node, wanted: Node) -> Iterator[Node]:
    """The nodes from the root down to `wanted`; none when it is not below the root."""
    if root is wanted:
        yield root
        return
    for child in root["children"]:
        below = list(_path(child, wanted))
        if below:
            yield root
            yield from below
            return
