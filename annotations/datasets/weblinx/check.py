"""Whether WebLINX's `replay.json` has the published shape (sources.md A1): every defect, named."""

import re
from typing import Any

from annotations.datasets.fields import Defects, Fields, describe
from annotations.datasets.weblinx.turns import OPERATIONS, PAGE_NAME, RecordedTurn, intent_of, uid_of, value_of

SPEAKERS = ("instructor", "navigator")
LONGEST = 1e9  # seconds
SCREENSHOT_NAME = re.compile(r"[\w.-]+\.png", re.ASCII)


def check_replay(content: dict[str, Any], demo: str, defects: Defects) -> list[RecordedTurn]:
    """The turns, [] when a defect was noted. Records are named `DEMO.data[3]`."""
    fields = Fields(content, demo, defects)
    checked = fields.objects("data")
    for turn in checked:
        _check_turn(turn, content["data"][_place(turn)])
    if defects:
        return []
    if not checked:
        fields.defect("data", "expected at least one turn, found an empty list")
    for turn in checked:
        _check_stored(turn, content["data"][_place(turn)])
    return [] if defects else content["data"]


def _place(turn: Fields) -> int:
    return int(turn.record.rpartition("[")[2].rstrip("]"))


def _check_turn(fields: Fields, turn: RecordedTurn) -> None:
    seconds = turn.get("timestamp")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not -LONGEST < seconds < LONGEST:
        fields.defect("timestamp", f"expected a number of seconds, found {describe(seconds)}")
    kind = fields.text("type")
    if kind == "chat":
        _check_chat(fields)
    elif kind == "browser":
        _check_browser(fields)
    elif fields.has("type"):
        fields.defect("type", f"expected chat or browser, found {kind[:40]!r}")
    _check_state(fields)


def _check_chat(fields: Fields) -> None:
    speaker = fields.text("speaker")
    fields.text("utterance")
    if speaker and speaker not in SPEAKERS:
        fields.defect("speaker", f"expected instructor or navigator, found {speaker[:40]!r}")


def _check_browser(fields: Fields) -> None:
    action = fields.object("action")
    if action is None:
        return
    intent = action.text("intent")
    if intent not in OPERATIONS and action.has("intent"):
        action.defect("intent", f"expected one of {', '.join(OPERATIONS)}, found {intent[:40]!r}")
    arguments = action.object("arguments", required=False)
    if arguments is not None:
        arguments.object("metadata", required=False)
        arguments.object("properties", required=False)
        element = arguments.object("element", required=False)
        if element is not None:
            element.object("attributes", required=False)


def _check_state(fields: Fields) -> None:
    """Note defects where file names of a turn's state are no plain names, so that nothing outside the demonstration's
    folders is ever read."""
    state = fields.object("state", required=False)
    if state is None:
        return
    page, screenshot = state.text("page", required=False), state.text("screenshot", required=False)
    if page and not PAGE_NAME.fullmatch(page):
        state.defect("page", f"expected a file name like page-3-0.html, found {page[:60]!r}")
    if screenshot and not SCREENSHOT_NAME.fullmatch(screenshot):
        state.defect("screenshot", f"expected a file name like screenshot-3-0.png, found {screenshot[:60]!r}")


def _check_stored(fields: Fields, turn: RecordedTurn) -> None:
    """Note defects where texts that go into columns are none that a database holds."""
    for name, text in (("value", value_of(turn)), ("uid", uid_of(turn))):
        if "\0" in text or not _encodes(text):
            where = f"action.{intent_of(turn)}.{name}"
            fields.defect(where, "expected text, found a NUL or half of a surrogate pair")


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
