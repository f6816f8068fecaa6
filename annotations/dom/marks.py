"""Marks on a rendered page: the gold, the predicted and the candidate elements, told apart by line and label.

Two ways to draw them, with one look: the in-frame script draws boxes over the page; pages without scripts get
outlines and chips written into the document (`write_marks`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from lxml import etree

from annotations.dom.allowed import CLOSED_TAGS, NODE_ID_ATTRIBUTE, SVG, XHTML
from annotations.dom.tree import Element, tag_of

MarkKind = Literal["gold", "predicted", "candidate", "changed"]
KINDS: tuple[MarkKind, ...] = get_args(MarkKind)
MAX_LABEL = 40
MAX_MARKS = 200


@dataclass(frozen=True)
class Look:
    """How marks of one kind are drawn. `distance`: pixels between element and line, so that marks of several kinds can
    share an element."""

    colour: str
    line: str
    width: int
    distance: int


# The palette of static/css/variables.css in its light form: white chips can be read on these colours.
LOOKS: dict[MarkKind, Look] = {
    "gold": Look("#187a48", "solid", 2, 1),
    "predicted": Look("#b34e08", "dashed", 2, 4),
    "candidate": Look("#3b5bdb", "solid", 1, 0),
    "changed": Look("#0b7285", "double", 3, 2),
}
REGION_LOOK = Look("#7c3aad", "dotted", 3, 0)  # of a rectangle that somebody's note is about
CHIP = "font:600 10px/14px system-ui,sans-serif;padding:0 5px;border-radius:3px;color:#fff;white-space:nowrap"


@dataclass(frozen=True)
class Mark:
    """A mark on one element. `label` is the text of its chip, a candidate's rank for example; "" shows the name of the
    kind."""

    node_id: str
    kind: MarkKind
    label: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")

    @property
    def chip(self) -> str:
        return self.label[:MAX_LABEL] or self.kind

    def message(self) -> dict[str, str]:
        """The mark as the frame's script and `SnapshotFrame` in the browser take it."""
        return {"id": self.node_id, "kind": self.kind, "label": self.chip}


@dataclass(frozen=True)
class MarkedRegion:
    """A rectangle of a page that somebody's note is about, in pixels from its top left corner; `label` is the text of
    its chip."""

    x: float
    y: float
    width: float
    height: float
    label: str

    @property
    def anchor(self) -> str:
        """Its id, for the fragment of an address that scrolls to it."""
        return f"region-{self.label}"


def anchor_id(node_id: str) -> str:
    """Id of a marked element's chip, for the fragment of an address that scrolls to it."""
    return f"node-{node_id}"


def write_marks(root: Element, marks: Iterable[Mark]) -> None:
    """Outline the marked elements of a rendered page and put a chip with their labels on each."""
    wanted: dict[str, list[Mark]] = {}
    for mark in list(marks)[:MAX_MARKS]:
        wanted.setdefault(mark.node_id, []).append(mark)
    if not wanted:
        return
    for element in list(root.iter("*")):
        found = wanted.pop(element.get(NODE_ID_ATTRIBUTE, ""), None)
        if found:
            _write(_drawn(element), found)


def write_regions(root: Element, regions: Iterable[MarkedRegion]) -> None:
    """Draw rectangles over a rendered page: last in the document, so that they stand at pixels of the page."""
    for one in regions:
        place = f"left:{one.x}px;top:{one.y}px;width:{one.width}px;height:{one.height}px;"
        box = etree.SubElement(root, f"{{{XHTML}}}div", {"id": one.anchor, "style": _REGION + _forced(place)})
        chip = f"all:initial;{CHIP};background:{REGION_LOOK.colour};position:absolute;right:-3px;top:100%;"
        etree.SubElement(box, f"{{{XHTML}}}span", {"style": _forced(chip)}).text = one.label[:MAX_LABEL]


def _forced(style: str) -> str:
    return style.replace(";", "!important;")


def _drawn(element: Element) -> Element:
    """The element itself, or the control or picture around it that is drawn as a whole."""
    drawn = element
    for ancestor in element.iterancestors():
        if _name(ancestor) in CLOSED_TAGS:
            drawn = ancestor
    return drawn


def _write(element: Element, marks: list[Mark]) -> None:
    marks = sorted(marks, key=lambda mark: KINDS.index(mark.kind))
    styles = [element.get("style", "").rstrip("; ")]
    outer = max((LOOKS[mark.kind] for mark in marks), key=lambda look: look.distance)
    styles.append(f"outline:{outer.width}px {outer.line} {outer.colour}!important")
    styles.append(f"outline-offset:{outer.distance}px!important")
    if outer != LOOKS[marks[0].kind]:  # an element has one outline; the inner line becomes a ring
        inner = LOOKS[marks[0].kind]
        styles.append(f"box-shadow:0 0 0 {inner.distance + inner.width}px {inner.colour}!important")
    element.set("style", ";".join(filter(None, styles)))
    holder = etree.Element(
        f"{{{XHTML}}}span", {"id": anchor_id(marks[0].node_id), "style": _HOLDER}, nsmap={None: XHTML}
    )
    for mark in marks:
        style = f"all:initial;{CHIP};background:{LOOKS[mark.kind].colour};margin-right:2px;"
        etree.SubElement(holder, f"{{{XHTML}}}span", {"style": _forced(style)}).text = mark.chip
    _place(holder, element)


# Out of the flow, so that the page's layout stays: it floats above the place where it is written.
_HOLDER = _forced(
    "all:initial;position:absolute;z-index:2147483647;display:inline-block;transform:translateY(-100%);"
    "margin-top:-3px;scroll-margin:80px;pointer-events:none;white-space:nowrap;"
)
_REGION = _forced(
    "all:initial;position:absolute;z-index:2147483647;box-sizing:border-box;scroll-margin:80px;pointer-events:none;"
    f"border:{REGION_LOOK.width}px {REGION_LOOK.line} {REGION_LOOK.colour};background:{REGION_LOOK.colour}22;"
)


def _place(holder: Element, element: Element) -> None:
    """The chip goes in as first child, or in front of an element that shows no children."""
    parent = element.getparent()
    if parent is not None and (_name(element) in CLOSED_TAGS or tag_of(element).startswith(f"{{{SVG}}}")):
        parent.insert(parent.index(element), holder)
        return
    holder.tail, element.text = element.text, None
    element.insert(0, holder)


def _name(element: Element) -> str:
    return tag_of(element).rpartition("}")[2]
