"""The elements of a turn as dense markup ranking reads them (A3): which are candidates, and the text of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lxml import etree
from lxml.html import HtmlElement

from agents.weblinx.pages import parse_page
from agents.weblinx.tokens import SpanTokenizer
from agents.weblinx.turns import Demo, RecordedBox, ReplayTurn
from annotations.dom.limits import PageError
from annotations.dom.tree import tag_of
from annotations.dom.weblinx_page import UID
from annotations.sandbox.deadline import page_deadline

RANKED_INTENTS = frozenset("click change textinput scroll load submit".split())
FIELDS = ("tag", "xpath", "text", "bbox", "attributes", "children")
SMALLEST_SIDE = 10  # boxes narrower and lower than this are no candidates
ATTRIBUTE_LENGTH = 100
CHILDREN = 2


@dataclass(frozen=True)
class ElementLimit:
    """How much of an element a document shows.

    In characters: the limit of its own text (published: 200). In tokens of the encoder: the limit of the whole
    document. `size` None: no limit but the encoder's own.
    """

    size: int | None = 200
    unit: Literal["chars", "tokens"] = "chars"

    def __post_init__(self) -> None:
        if self.unit not in ("chars", "tokens"):
            raise ValueError(f'unit must be "chars" or "tokens", got {self.unit!r}')
        if self.size is not None and self.size < 1:
            raise ValueError(f"size must be positive or None, got {self.size}")


@dataclass(frozen=True)
class ElementDoc:
    """A candidate element: its uid, the named fields, their text and whether it is the target of the turn."""

    uid: str
    fields: Mapping[str, str]
    text: str
    positive: bool


def is_ranked(demo: Demo, turn: ReplayTurn) -> bool:
    """Whether the ranker is evaluated on the turn: one of six intents, with a page and boxes (A3.1)."""
    return turn.intent in RANKED_INTENTS and turn.page is not None and demo.pages.bboxes(turn) is not None


def ranked_turns(demo: Demo) -> list[ReplayTurn]:
    return [turn for turn in demo.turns if is_ranked(demo, turn)]


def visible_boxes(
    boxes: Mapping[str, RecordedBox], viewport_height: float | None = None, viewport_width: float | None = None
) -> dict[str, RecordedBox]:
    """Boxes of candidates (A3.2): with an area, not small both ways, not starting below or right of the viewport."""
    return {
        uid: box
        for uid, box in boxes.items()
        if box["width"] > 0
        and box["height"] > 0
        and (box["width"] >= SMALLEST_SIDE or box["height"] >= SMALLEST_SIDE)
        and (viewport_height is None or box["y"] <= viewport_height)
        and (viewport_width is None or box["x"] <= viewport_width)
    }


def documents(
    demo: Demo, turn: ReplayTurn, limit: ElementLimit = ElementLimit(), tokenizer: SpanTokenizer | None = None
) -> list[ElementDoc]:
    """The candidates of a turn in document order; none without a page.

    A limit in tokens needs the encoder's tokenizer (ValueError without it).
    """
    html = demo.pages.page_html(turn)
    page = parse_page(html) if html is not None else None
    if page is None:
        return []
    boxes = visible_boxes(demo.pages.bboxes(turn) or {}, turn.viewport_height, turn.viewport_width)
    tree = page.getroottree()
    docs = []
    for node in tree.xpath(f"//*[@{UID}]"):
        uid = node.get(UID)
        if uid in boxes:
            fields = element_fields(node, tree, boxes[uid], limit)
            docs.append(ElementDoc(uid, fields, _limited(render(fields), limit, tokenizer), uid == turn.uid))
    return docs


def element_fields(
    node: HtmlElement, tree: etree._ElementTree, box: RecordedBox, limit: ElementLimit = ElementLimit()
) -> dict[str, str]:
    """The six fields of an element (A3.3), all texts."""
    size = limit.size if limit.unit == "chars" else None
    attributes = sorted(
        ((key, shorten(value, ATTRIBUTE_LENGTH)) for key, value in node.attrib.items()), key=lambda pair: len(pair[1])
    )
    children = [child.tag for child in node[:CHILDREN] if isinstance(child.tag, str)]  # a comment takes a place
    return {
        "tag": tag_of(node),
        "xpath": tree.getpath(node),
        "text": shorten(node.text or "", size),
        "bbox": " ".join(f"{key}={round(box[key], 1)}" for key in ("x", "y", "width", "height")),
        "attributes": " ".join(f"{key}={value!r}" for key, value in attributes),
        "children": shorten(" ".join(children), ATTRIBUTE_LENGTH),
    }


def render(fields: Mapping[str, str]) -> str:
    """The document of an element: a line per field; fields beyond the six follow."""
    named = [name for name in FIELDS if name in fields] + [name for name in fields if name not in FIELDS]
    return "\n".join(f"[[{name}]] {fields[name]}" for name in named)


def shorten(text: str, length: int | None, side: Literal["left", "center", "right"] = "center") -> str:
    """A text of at most `length` (None: any) characters, "..." standing for what was cut at that side."""
    if length is None or len(text) <= length:
        return text
    kept = length - len("...")
    head = {"left": 0, "center": kept // 2, "right": kept}[side]
    return text[:head] + "..." + text[len(text) - (kept - head) :]


def training_documents(
    demo: Demo,
    limit: ElementLimit = ElementLimit(),
    on_unread: Callable[[ReplayTurn, PageError], None] = lambda turn, error: None,
    tokenizer: SpanTokenizer | None = None,
) -> Iterator[tuple[ReplayTurn, list[ElementDoc]]]:
    """Per training turn its elements (A5.1), of which a training draws; `tokenizer`: for a limit in tokens.

    Turns whose target is not on the page are left out, and those whose page cannot be read, which `on_unread` is told
    of; one whose target's box was filtered out has negatives only.
    """
    for turn in ranked_turns(demo):
        try:
            docs = _training_page(demo, turn, limit, tokenizer)
        except PageError as error:
            on_unread(turn, error)
            continue
        if docs is not None:
            yield turn, docs


@page_deadline()
def _training_page(
    demo: Demo, turn: ReplayTurn, limit: ElementLimit, tokenizer: SpanTokenizer | None
) -> list[ElementDoc] | None:
    """The candidates of a turn whose target is on its page; None for any other."""
    return documents(demo, turn, limit, tokenizer) if turn.uid is not None and _on_page(demo, turn) else None


def _on_page(demo: Demo, turn: ReplayTurn) -> bool:
    page = parse_page(demo.pages.page_html(turn) or "")
    return page is not None and turn.uid in page.xpath(f"//*/@{UID}")


def _limited(text: str, limit: ElementLimit, tokenizer: SpanTokenizer | None) -> str:
    if limit.unit == "chars" or limit.size is None:
        return text
    if tokenizer is None:
        raise ValueError("a limit in tokens needs a tokenizer")
    spans: Sequence[tuple[int, int]] = tokenizer.spans(text)
    return text if len(spans) <= limit.size else text[: spans[limit.size - 1][1]]
