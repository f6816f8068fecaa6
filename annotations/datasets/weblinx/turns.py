"""What WebLINX's replay turns say: who speaks, what is done, to which element, with which value.

A turn is the published dict (sources.md A1): a chat message of the instructor or the navigator, or
a browser action of the navigator. Its index is its place in `replay.json`'s `data`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any
from urllib.parse import urlsplit

from annotations.dom.weblinx_page import UID

# Recorded intent of a browser turn -> operation.
OPERATIONS = {
    "click": "CLICK",
    "hover": "HOVER",
    "textInput": "TYPE",
    "change": "CHANGE",
    "load": "LOAD",
    "submit": "SUBMIT",
    "scroll": "SCROLL",
    "copy": "COPY",
    "paste": "PASTE",
    "tabcreate": "TAB_CREATE",
    "tabremove": "TAB_REMOVE",
    "tabswitch": "TAB_SWITCH",
}
SAY = "say"
PAGE_NAME = re.compile(r"page-(\d+)-\d+\.html")
PREDICTED_INTENTS = frozenset("change click load say scroll submit textinput".split())  # the seven that are evaluated
NEEDING_AN_ELEMENT = frozenset({"click", "change", "submit"})  # turns that are left out without one
MAX_SHOWN = 80  # characters of a name or value in an action's short text

RecordedTurn = Mapping[str, Any]  # as published, never changed


def is_chat(turn: RecordedTurn) -> bool:
    return bool(turn["type"] == "chat")


def is_instruction(turn: RecordedTurn) -> bool:
    """A message of the instructor; everything else is the navigator's."""
    return is_chat(turn) and speaker_of(turn) == "instructor"


def speaker_of(turn: RecordedTurn) -> str | None:
    """ "instructor" or "navigator"; None for browser turns."""
    return turn.get("speaker")


def utterance_of(turn: RecordedTurn) -> str | None:
    return turn.get("utterance")


def seconds_of(turn: RecordedTurn) -> float:
    """Seconds since the recording started; may be negative."""
    seconds: float = turn["timestamp"]
    return seconds


def intent_of(turn: RecordedTurn) -> str:
    """The intent of a browser turn as recorded; "say" for a message."""
    return SAY if is_chat(turn) else turn["action"]["intent"]


def arguments_of(turn: RecordedTurn, name: str = "") -> dict[str, Any]:
    """The arguments of a browser turn, or an object among them; {} where the recording has none."""
    arguments = {} if is_chat(turn) else turn["action"].get("arguments") or {}
    return (arguments.get(name) or {}) if name else arguments


def element_of(turn: RecordedTurn) -> Mapping[str, Any] | None:
    """The element that a browser turn acts on: attributes, bbox, tagName, textContent, ...; None where it has none."""
    return arguments_of(turn).get("element")


def operation_of(turn: RecordedTurn) -> str:
    """Our operation of a turn, by its intent; a change of a list of options is a SELECT."""
    intent = intent_of(turn)
    if intent == "change" and str(arguments_of(turn, "element").get("tagName")).upper() == "SELECT":
        return "SELECT"
    return "SAY" if intent == SAY else OPERATIONS[intent]


def uid_of(turn: RecordedTurn) -> str:
    """The uid of the element that a browser turn acts on; "" where it has none."""
    attributes = arguments_of(turn, "element").get("attributes")
    uid = attributes.get(UID) if isinstance(attributes, dict) else None
    return uid if isinstance(uid, str) else ""


def value_of(turn: RecordedTurn) -> str:
    """What is typed, chosen, loaded, said, copied or pasted; "x y" of a scroll; ids of tabs. "" where nothing is."""
    arguments, properties = arguments_of(turn), arguments_of(turn, "properties")
    values = {
        SAY: [utterance_of(turn)],
        "textInput": [arguments.get("text")],
        "change": [arguments.get("value")],
        "load": [address_of(turn)],
        "scroll": [arguments.get("scrollX"), arguments.get("scrollY")],
        "copy": [arguments.get("selected")],
        "paste": [arguments.get("pasted")],
        "tabcreate": [properties.get("tabId")],
        "tabremove": [properties.get("tabId")],
        "tabswitch": [properties.get("tabIdOrigin"), properties.get("tabId")],
    }.get(intent_of(turn), [])
    return " ".join(_text(value) for value in values if value is not None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def action_repr(turn: RecordedTurn) -> str:
    """A short text for people: `click [button] Search`, `textInput [input] From: Westmere`, `say: Which day?`."""
    element = arguments_of(turn, "element")
    said = intent_of(turn)
    if element:
        said += f" [{str(element.get('tagName', '')).lower()}] {_name(element)}".rstrip()
    value = _cut(value_of(turn))
    text = f"{said}: {value}" if value else said
    return text.encode("utf-8", "ignore").decode().replace("\0", "")  # recorded names may hold what a database refuses


def _name(element: dict[str, Any]) -> str:
    attributes = element.get("attributes") or {}
    names = [
        element.get("textContent"),
        *(attributes.get(key) for key in ("aria-label", "placeholder", "name", "title")),
    ]
    return next((cut for name in names if isinstance(name, str) and (cut := _cut(name))), "")


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def address_of(turn: RecordedTurn) -> Any:
    """Where a `load` goes; None where the recording does not tell."""
    return arguments_of(turn, "properties").get("url") or arguments_of(turn).get("url")


def state_of(turn: RecordedTurn) -> Mapping[str, Any]:
    """Where the turn's page and screenshot are; {} where nothing was recorded."""
    return turn.get("state") or {}


def page_name(turn: RecordedTurn) -> str:
    """File name of the page that the turn was taken on; "" where none was recorded."""
    return state_of(turn).get("page") or ""


def screenshot_of(turn: RecordedTurn) -> str:
    """File name of the turn's screenshot; "" where none was recorded."""
    return state_of(turn).get("screenshot") or ""


def boxes_name(page: str) -> str:
    """Path of the bounding boxes that belong to a page: they share its first number; "" for another shape of name."""
    match = PAGE_NAME.fullmatch(page)
    return f"bboxes/bboxes-{match[1]}.json" if match else ""


def window_of(turn: RecordedTurn) -> tuple[float | None, float | None]:
    """Width and height of the window as recorded, None where they are not."""
    metadata = arguments_of(turn, "metadata")
    return metadata.get("viewportWidth"), metadata.get("viewportHeight")


def viewport_of(turn: RecordedTurn) -> tuple[float, float] | None:
    """(width, height) of the window in CSS pixels; None where the recording does not tell."""
    width, height = window_of(turn)
    return (width, height) if isinstance(width, int | float) and isinstance(height, int | float) else None


def website_of(turns: Sequence[RecordedTurn]) -> str:
    """The host that most browser turns are on, without `www.`; "unknown" where no address was recorded.

    WebLINX names no website. Of hosts with equal counts the first one counts.
    """
    hosts: Counter[str] = Counter()
    for turn in turns:
        address = arguments_of(turn, "metadata").get("url")
        loaded = value_of(turn) if intent_of(turn) == "load" else None
        hosts.update(host for host in map(_host, (address, loaded)) if host)
    return hosts.most_common(1)[0][0] if hosts else "unknown"


def _host(address: Any) -> str:
    try:
        parts = urlsplit(address) if isinstance(address, str) else None
        host = parts.hostname if parts and parts.scheme in ("http", "https") else None
    except ValueError:
        return ""
    return (host or "").removeprefix("www.")


def active_turns(turns: Iterable[RecordedTurn], needing: Set[str] = NEEDING_AN_ELEMENT) -> Iterator[int]:
    """Indices of the turns that WebLINX's action models are trained and evaluated on.

    Navigator turns of seven intents with a good screenshot; a chat message without one has that of the nearest
    earlier turn. Turns of the intents `needing` an element that have none are left out.
    """
    latest: Mapping[str, Any] = {}
    for index, turn in enumerate(turns):
        state, intent = state_of(turn), intent_of(turn).lower()
        if state.get("screenshot"):
            latest = state
        elif is_chat(turn):
            state = latest
        is_named = intent not in needing or element_of(turn) is not None
        is_good = state.get("screenshot") and state.get("screenshot_status") == "good"
        if intent in PREDICTED_INTENTS and not is_instruction(turn) and is_named and is_good:
            yield index


def duration_of(turns: Sequence[RecordedTurn]) -> float:
    """Seconds from the first turn to the last; 0.0 for fewer than two."""
    times = [seconds_of(turn) for turn in turns]
    return round(max(times) - min(times), 3) if times else 0.0


def figures(turns: Sequence[RecordedTurn]) -> dict[str, Any]:
    """The numbers of a demonstration that statistics sum up: turns of either speaker, active turns, seconds."""
    instructor = sum(is_instruction(turn) for turn in turns)
    return {
        "instructor_turns": instructor,
        "navigator_turns": len(turns) - instructor,
        "active_turns": sum(1 for _ in active_turns(turns)),
        "duration": duration_of(turns),
    }
