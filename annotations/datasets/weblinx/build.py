"""Makes a WebLINX demonstration of a conversation that was not recorded as one.

Only what is known is written. The instruction of a turn becomes a message of the instructor, a step a browser turn with
its page, or a message of the navigator. Element boxes come from the pages' `bounding_box_rect`, uids from the backend
node ids. Times are unknown: `timestamp` counts the turns. Mouse positions, windows and addresses are absent.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import lxml.html
from lxml import etree

from annotations.datasets.records import CandidateRecord, ConversationRecord, FileRecord, ImageRecord, StepRecord
from annotations.datasets.weblinx.demos import SITE
from annotations.datasets.weblinx.turns import SAY, RecordedTurn
from annotations.dom.limits import PageError
from annotations.dom.tree import NODE_ID, TEXT, parse, tag_of
from annotations.dom.weblinx_page import UID
from annotations.sandbox.deadline import page_deadline

INTENTS = {
    "CLICK": "click",
    "TYPE": "textInput",
    "SELECT": "change",
    "CHANGE": "change",
    "HOVER": "hover",
    "SCROLL": "scroll",
    "LOAD": "load",
    "SAY": SAY,
    "SUBMIT": "submit",
    "COPY": "copy",
    "PASTE": "paste",
    "TAB_CREATE": "tabcreate",
    "TAB_REMOVE": "tabremove",
    "TAB_SWITCH": "tabswitch",
}
VERSION = "1.0.0"
LIVE = {"input_value": "value", "text_value": "value", "input_checked": "checked", "option_selected": "selected"}
HYPHENATED = ("aria_", "data_")
NO_PAGE = -1
MAX_TEXT = 1000  # characters of an element's text content

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}")


@dataclass
class HTMLPage:
    """A page as WebLINX has it: elements by uid, their boxes by uid, and the document itself."""

    html: str
    elements: dict[str, etree._Element] = field(default_factory=dict)
    boxes: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass
class Demonstration:
    """The content of a demonstration's folder. Pages are numbered in the order in which they are first seen."""

    name: str
    form: dict[str, Any]
    turns: list[RecordedTurn] = field(default_factory=list)
    pages: list[HTMLPage] = field(default_factory=list)
    screenshots: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)  # why pages are left out

    def files(self) -> list[FileRecord]:
        """The files of the folder, by path; the same demonstration gives the same bytes."""
        contents = {"metadata.json": self.metadata, "form.json": self.form}
        contents["replay.json"] = {"data": self.turns, "version": VERSION}
        contents |= {f"bboxes/bboxes-{i}.json": page.boxes for i, page in enumerate(self.pages)}
        files = {path: json.dumps(value, ensure_ascii=False).encode() for path, value in contents.items()}
        files |= {f"pages/page-{i}-0.html": page.html.encode() for i, page in enumerate(self.pages)}
        files |= {f"screenshots/{name}": data for name, data in self.screenshots.items()}
        return [FileRecord(path, files[path]) for path in sorted(files)]


def demonstration(record: ConversationRecord) -> Demonstration:
    """The demonstration of a conversation; raises ValueError for an operation that WebLINX does not have."""
    site = {"website": record.website, "domain": record.domain, "subdomain": record.subdomain}
    first = next((turn.instruction for turn in record.turns if turn.instruction), "")
    made = Demonstration(record.source_id, {"description": first, "shortcode": record.source_id, SITE: site})
    made.metadata = {"recordingId": record.source_id, "version": VERSION}
    numbers: dict[str, int] = {}
    for turn in record.turns:
        if turn.instruction:
            message = {"type": "chat", "speaker": "instructor", "utterance": turn.instruction}
            made.turns.append({**message, "timestamp": len(made.turns)})
        for step in turn.steps:
            made.turns.append({**_step_turn(record, step, made, numbers), "timestamp": len(made.turns)})
    return made


def _step_turn(
    record: ConversationRecord, step: StepRecord, made: Demonstration, numbers: dict[str, int]
) -> RecordedTurn:
    intent = INTENTS.get(step.operation)
    if intent is None:
        raise ValueError(
            f"step {step.source_id!r} of {record.source_id!r} is a {step.operation}, which WebLINX does not have: "
            "export the dataset as jsonl"
        )
    if intent == SAY:
        return {"type": "chat", "speaker": "navigator", "utterance": step.value}
    source = _source(step)
    if source and source not in numbers:
        numbers[source] = _add_page(made, source, record.source_id)
    number = numbers.get(source, NO_PAGE)
    state: dict[str, Any] = {"page": f"page-{number}-0.html" if number != NO_PAGE else None, "screenshot": None}
    state |= _add_screenshot(step.screenshot, made)
    page = made.pages[number] if number != NO_PAGE else HTMLPage("")
    arguments = _arguments(intent, step.value)
    if step.positives:
        gold = next((item for item in step.positives if item.is_original_target), step.positives[0])
        arguments["element"] = element_of(page, uid_of_node(record.source_id, gold.node_id), gold)
    return {"type": "browser", "action": {"intent": intent, "arguments": arguments}, "state": state}


def _add_page(made: Demonstration, source: str, conversation: str) -> int:
    """Add a page to the demonstration; its number, or NO_PAGE for a page that cannot be read, whose error goes to
    `unread`: the conversation is written without it."""
    try:
        with page_deadline():
            made.pages.append(html_page(source, conversation))
    except PageError as error:
        made.unread.append(str(error))
        return NO_PAGE
    return len(made.pages) - 1


def _source(step: StepRecord) -> str:
    """The source of the step's page: as recorded where that is well-formed XML, else the cleaned one."""
    try:
        parse(step.raw_html)
    except PageError:
        return step.html
    return step.raw_html


def _add_screenshot(image: ImageRecord | None, made: Demonstration) -> dict[str, str]:
    """Add a screenshot to the demonstration; its name and status as fields of a turn. The format has PNG images only,
    others are left out ({})."""
    if image is None or image.media_type != "image/png":
        return {}
    name = next((name for name, data in made.screenshots.items() if data == image.data), "")
    name = name or f"screenshot-{len(made.screenshots)}-0.png"
    made.screenshots[name] = image.data
    return {"screenshot": name, "screenshot_status": "good"}


def _arguments(intent: str, value: str) -> dict[str, Any]:
    """The arguments of an intent that hold the step's value (the inverse of `turns.value_of`)."""
    if intent == "load":
        return {"properties": {"url": value}}
    if intent == "scroll":
        x, y = ([_number(part) for part in value.split()] + [0, 0])[:2]
        return {"scrollX": x, "scrollY": y}
    if intent == "tabswitch":
        origin, _, target = value.partition(" ")
        return {"properties": {"tabIdOrigin": _number(origin), "tabId": _number(target)}}
    if intent in ("tabcreate", "tabremove"):
        return {"properties": {"tabId": _number(value)}}
    name = {"textInput": "text", "change": "value", "copy": "selected", "paste": "pasted"}.get(intent)
    return {name: value} if name else {}


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return 0


# Pages


def uid_of_node(conversation: str, node_id: str) -> str:
    """The uid of a node: its own where it is one, else made of the node id, the same on every page."""
    if _UID.fullmatch(node_id):
        return node_id
    code = hashlib.sha256(f"{conversation}/{node_id}".encode()).hexdigest()
    return f"{code[:8]}-{code[8:12]}-{code[12:16]}"


def html_page(source: str, conversation: str) -> HTMLPage:
    """The HTML of a stored page. `source` is well-formed XML; raises PageError for anything else."""
    root = parse(source)
    page = HTMLPage("")
    copy = lxml.html.Element(root.tag)
    pending = [(root, copy)]
    while pending:
        element, made = pending.pop()
        _copy_element(element, made, conversation, page)
        _add_text(made, element.text)
        for child in element:
            if child.tag == TEXT and not len(child) and made.tag != "svg":
                _add_text(made, child.text)
            elif isinstance(child.tag, str):
                pending.append((child, etree.SubElement(made, child.tag)))
            _add_text(made, child.tail)
    page.html = "<!DOCTYPE html>\n" + lxml.html.tostring(copy, encoding="unicode")
    return page


def _copy_element(element: etree._Element, made: etree._Element, conversation: str, page: HTMLPage) -> None:
    for name, value in element.attrib.items():
        if name == NODE_ID or name == "bounding_box_rect":
            continue
        name = LIVE.get(name, name)
        made.set(name.replace("_", "-") if name.startswith(HYPHENATED) else name, value)
    node_id = element.get(NODE_ID)
    if node_id is None:
        return
    uid = uid_of_node(conversation, node_id)
    made.set(UID, uid)
    page.elements.setdefault(uid, made)
    if (box := _box(element.get("bounding_box_rect", ""))) is not None:
        page.boxes.setdefault(uid, box)


def _box(rect: str) -> dict[str, float] | None:
    """The box of "x,y,width,height"; None for an element without layout."""
    try:
        x, y, width, height = (_number(part) for part in rect.split(","))
    except ValueError:
        return None
    return box_of(x, y, width, height) if width >= 0 and height >= 0 else None


def box_of(x: float, y: float, width: float, height: float) -> dict[str, float]:
    """A box with all eight published fields."""
    sides = {"top": y, "left": x, "right": x + width, "bottom": y + height}
    return {"x": x, "y": y, "width": width, "height": height} | sides


def _add_text(parent: etree._Element, text: str | None) -> None:
    if not text:
        return
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def element_of(page: HTMLPage, uid: str, gold: CandidateRecord) -> dict[str, Any]:
    """The element of a browser turn; what is known of it from its record where the page does not have it."""
    element = page.elements.get(uid)
    if element is None:
        return {"attributes": {UID: uid}, "tagName": gold.tag.upper(), "textContent": ""}
    text = "".join(element.itertext())
    return {
        "attributes": dict(element.attrib),
        "bbox": page.boxes.get(uid, box_of(0, 0, 0, 0)),
        "tagName": tag_of(element).upper(),
        "textContent": text[:MAX_TEXT],
        "xpath": element.getroottree().getpath(element),
    }
