"""Read what an action model wrote and find the element it means (A4.3, A4.4)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.weblinx.pages import xpaths
from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.turns import ELEMENT_INTENTS, INTENTS, UNKNOWN, Demo, RecordedBox, ReplayTurn
from annotations.dom.weblinx_page import UID

READ_INTENTS = INTENTS | {"action"}  # action(intent="action") stays what it is, and matches nothing
CORNERS = ("top", "left", "right", "bottom")


@dataclass(frozen=True)
class ParsedAction:
    """A reply as read. `intent` is one of `READ_INTENTS` or `UNKNOWN`; `args` may hold texts, numbers and None.

    `raw_intent` and `raw_args` are the texts found; `handled` tells which crashes of the published parser (Q3) the
    reply would have caused.
    """

    intent: str
    args: Mapping[str, Any]
    raw_intent: str
    raw_args: str
    handled: tuple[str, ...] = ()


def parse_action(reply: str, quirks: WeblinxQuirks = FAITHFUL) -> ParsedAction:
    """The first call in the reply; text around it and later calls are ignored. Coordinates are not cast yet.

    Raises AttributeError or ValueError under `wq3_crashes` only.
    """
    raw_intent, raw_args = find_call(reply)
    args: dict[str, Any] = {}
    handled = []
    for piece in split_arguments(raw_args):
        key, _, text = piece.strip().partition("=")
        try:
            args[key.strip()] = read_value(text, quirks)
        except ValueError:
            if quirks.wq3_crashes:
                raise
            args[key.strip()] = _unquoted(text.strip())
            handled.append("digit that is no number")
    intent = _intent(raw_intent)
    if intent == "action":
        named = args.get("intent", "")
        if not isinstance(named, str):
            if quirks.wq3_crashes:
                raise AttributeError(f"'{type(named).__name__}' object has no attribute 'lower'")
            handled.append("intent that is no text")
            named = ""
        intent = _intent(named)
    return ParsedAction(intent if intent in READ_INTENTS else UNKNOWN, args, raw_intent, raw_args, tuple(handled))


def find_call(reply: str) -> tuple[str, str]:
    """(name, text between the brackets) of the first call; empty texts when there is no bracket."""
    before, bracket, rest = reply.partition("(")
    if not bracket:
        return "", ""
    start = len(before)
    while start and (before[start - 1].isalnum() or before[start - 1] == "_"):
        start -= 1
    quoted = False
    for end, character in enumerate(rest):
        if character == '"':
            quoted = not quoted
        elif character == ")" and not quoted:
            return before[start:], rest[:end]
    return before[start:], rest


def split_arguments(text: str) -> list[str]:
    """Pieces between the commas that are not inside quotes; those without "=" are dropped."""
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and pieces[-1].count('"') % 2:
            pieces[-1] += "," + piece
        else:
            pieces.append(piece)
    return [piece for piece in pieces if "=" in piece]


def read_value(text: str, quirks: WeblinxQuirks = FAITHFUL) -> str | int | float:
    """A text without its quotes, or a number; quirk Q2 reads quoted numbers as numbers too.

    Raises ValueError for digits that are no number ("²").
    """
    text = text.strip()
    value = _unquoted(text)
    if value != text and not quirks.wq2_numbers_lose_quotes:
        return value
    if "." in value:
        try:
            return float(value)
        except ValueError:
            return value
    return int(value) if value.removeprefix("-").isdigit() else value


def cast_coordinates(args: Mapping[str, Any]) -> dict[str, Any]:
    """x and y as floats (None when unreadable), also from "x=3 y=4" without a comma; the four corners likewise."""
    args = dict(args)
    for one, other in (("x", "y"), ("y", "x")):
        if one in args and other not in args:
            text = args[one] if isinstance(args[one], str) else ""
            first, found, second = text.partition(f"{other}=")
            args[one], args[other] = (first, second) if found else (None, None)
    for key in ("x", "y", *CORNERS):
        if key in args:
            args[key] = _number(args[key])
    return args


def element_record(demo: Demo, turn: ReplayTurn, uid: Any) -> dict[str, Any] | None:
    """attributes (the uid), bbox and XPath; None unless the uid is in both the page and the boxes."""
    html = demo.pages.page_html(turn) if uid else None
    boxes = demo.pages.bboxes(turn) if html is not None else None
    if not boxes or uid not in boxes or uid not in xpaths(html):
        return None
    return {"attributes": {UID: uid}, "bbox": boxes[uid], "xpath": xpaths(html)[uid]}


def predicted_element(
    intent: str, args: Mapping[str, Any], demo: Demo, turn: ReplayTurn, quirks: WeblinxQuirks = FAITHFUL
) -> dict[str, Any] | None:
    """The element of a predicted action (`args` with cast coordinates): by uid, by point, by corners (A4.4)."""
    if intent not in ELEMENT_INTENTS:
        return None
    if "uid" in args or UID in args:
        uid = args["uid"] if "uid" in args else args[UID]
    else:
        point = _point(args, quirks)
        uid = uid_at(demo.pages.bboxes(turn) or {}, *point) if point else None
    return element_record(demo, turn, uid)


def uid_at(boxes: Mapping[str, RecordedBox], x: float, y: float) -> str | None:
    """The smallest box with an area that holds the point (edges rounded outwards); the first of equal ones."""
    areas = {
        uid: box["width"] * box["height"]
        for uid, box in boxes.items()
        if math.floor(box["left"]) <= x <= math.ceil(box["right"])
        and math.floor(box["top"]) <= y <= math.ceil(box["bottom"])
        and box["width"] * box["height"] != 0
    }
    return min(areas, key=areas.__getitem__, default=None)


def _intent(name: str) -> str:
    return name.lower().strip().replace("_", "")


def _unquoted(text: str) -> str:
    return text[1:-1] if text.startswith('"') and text.endswith('"') else text


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _point(args: Mapping[str, Any], quirks: WeblinxQuirks) -> tuple[float, float] | None:
    if "x" in args and "y" in args:
        point = (args["x"], args["y"])
    elif all(key in args for key in CORNERS) and not quirks.wq4_corners_find_nothing:
        if None in (args[key] for key in CORNERS):
            return None
        point = ((args["left"] + args["right"]) / 2, (args["top"] + args["bottom"]) / 2)
    else:
        return None
    return None if None in point else point
