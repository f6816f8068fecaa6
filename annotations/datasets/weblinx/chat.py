"""WebLINX's ready-made chat splits: one row per turn of the navigator, as a prompt's parts (published `chat` data).

Columns: `demo`, `turn`, `action` (the gold action as text), `action_history`, `utterances`, `candidates`, `clean_html`,
`viewport`. Files are JSON, JSON lines or CSV, plain or compressed; rows of one demonstration stand together. The file
or its folder names the split.

The rows of a demonstration become a conversation. A row is a step; its page is `clean_html` parsed back (the pruned
page in which only candidates have uids), its candidates are those of the row, and all columns are kept in `extra`.
Instructor messages are no rows: a turn begins where the newest message that a row knows of changes, and that message
is its instruction. WebLINX's demonstrations hold more; import those where they can be had.
"""

import csv
import io
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from annotations.datasets.fields import Defects, Fields, canonical
from annotations.datasets.files import ArchiveError, open_stream
from annotations.datasets.json_stream import StreamItem, elements
from annotations.datasets.records import CandidateRecord, ConversationRecord, Readable, StepRecord, TurnRecord
from annotations.datasets.weblinx.turns import OPERATIONS, SAY
from annotations.dom.limits import PageError
from annotations.sandbox import page_questions

CHAT_SUFFIXES = tuple(kind + packed for kind in (".json", ".jsonl", ".csv") for packed in ("", ".gz", ".xz"))
COLUMNS = ("action", "action_history", "utterances", "candidates", "clean_html", "viewport")
KEPT = ("action", "action_history", "utterances", "candidates", "viewport")  # the page is kept as the raw page
SPLITS = {
    "train": "train",
    "valid": "valid",
    "validation": "valid",
    "test_iid": "test_iid",
    "test_web": "test_web",
    "test_cat": "test_cat",
    "test_geo": "test_geo",
    "test_vis": "test_vis",
}
MAX_ROW_BYTES = 64 << 20
# The names of the action texts are the recorded intents in lower case, with or without `_`.
INTENTS = {intent.lower(): intent for intent in OPERATIONS} | {SAY: SAY}
VALUES = ("text", "value", "url", "utterance", "selected", "pasted")

_CALL = re.compile(r"\s*(\w+)\((.*)\)\s*", re.DOTALL)
# Quotes inside of strings are not escaped: a string ends where the next argument begins, or the call ends.
_NAME = re.compile(r'(?<!\w)(\w++)=("?)')
_STRING_END = re.compile(r'"(?=,\s*+\w++=|\s*+\Z)')
_PLAIN_END = re.compile(r'[",]|\Z')
_NEXT = re.compile(r",\s*+\w++=|\Z")
_INSTRUCTOR = re.compile(r'say\(speaker="instructor", utterance="')
_INSTRUCTOR_END = re.compile(r'"(?:, timestamp="[^"]*+")?\)')
_SAID_AT = re.compile(r"\[-?\d\d:\d\d\]")
_CANDIDATE = re.compile(r"\(uid = ([^)\s]+)\)(?:\s*\[\[tag\]\]\s*([\w:-]+))?")


def read_chat(path: Path) -> Iterator[Readable]:
    """The demonstrations in one file of rows, the rows of one in memory at a time."""
    seen: set[str] = set()
    for demo, rows in groupby(_rows(path), key=_demo_of):
        yield from _readables(path, demo, list(rows), seen)


def split_of(path: Path) -> str:
    """The split that the file's name, else its folder's, begins with; "" when neither does."""
    for name in (path.name, path.parent.name):
        stem = re.split(r"[.-]", name)[0]
        if stem in SPLITS:
            return SPLITS[stem]
    return ""


def _readables(path: Path, demo: str, rows: list[StreamItem], seen: set[str]) -> Iterator[Readable]:
    defects = Defects(path.name)
    for row in rows:
        if row.error:
            defects.add(row.place, "", row.error)
    checked = [Fields.of(row.value, row.place, defects) for row in rows if not row.error]
    steps = [_step(fields, demo) for fields in checked if fields is not None]
    if demo in seen:
        defects.add(rows[0].place, "demo", f"expected the rows of a demonstration together, found {demo!r} again")
    if len({step.source_id for step, _ in steps}) < len(steps):
        defects.add(rows[0].place, "turn", f"expected each turn of {demo!r} once, found one twice")
    seen.add(demo)
    if defects:
        yield from defects.all()
        return
    yield ConversationRecord(
        source_id=demo,
        website=_website(steps),
        domain="",
        subdomain="",
        turns=tuple(_turns(demo, steps)),
        split=split_of(path),
    )


def _website(steps: list[tuple[StepRecord, str]]) -> str:
    """The host of the first address that was loaded; "unknown" without one."""
    loaded = (step.value for step, _ in steps if step.operation == "LOAD")
    found = (re.match(r"https?://(?:www\.)?([\w.-]+)", value) for value in loaded)
    return next((match[1] for match in found if match), "unknown")


def _turns(demo: str, steps: list[tuple[StepRecord, str]]) -> Iterator[TurnRecord]:
    for instruction, group in groupby(steps, key=lambda item: item[1]):
        done = tuple(step for step, _ in group)
        first = done[0].source_index
        yield TurnRecord(f"{demo}_{first}", instruction, done, source_index=first)


def _step(fields: Fields, demo: str) -> tuple[StepRecord, str]:
    """The step of a row, and the newest message of the instructor that the row knows of."""
    number = _turn_number(fields)
    texts = {name: fields.text(name, required=name in ("action", "clean_html")) for name in COLUMNS}
    intent, arguments = parse_call(texts["action"])
    if intent not in INTENTS.values():
        known = ", ".join(sorted(INTENTS.values()))
        fields.defect("action", f"expected the call of one of {known}, found {texts['action'][:60]!r}")
        intent = SAY
    uid = arguments.get("uid", "")
    html, tags = _page(fields, texts["clean_html"])
    offered = {match[1]: match[2] or "" for match in _CANDIDATE.finditer(texts["candidates"])}
    record = StepRecord(
        source_id=f"{demo}_{number}",
        source_index=number,
        operation="SAY" if intent == SAY else OPERATIONS[intent],
        original_operation=intent,
        value=_value(arguments),
        action_repr=" ".join(texts["action"].split()),
        html=html,
        raw_html=texts["clean_html"],
        extra=canonical({name: texts[name] for name in KEPT if texts[name]}),
        positives=(CandidateRecord(uid, offered.get(uid) or tags.get(uid, "")),) if uid else (),
        negatives=tuple(CandidateRecord(other, tag) for other, tag in offered.items() if other != uid),
    )
    return record, _newest(texts["action_history"], texts["utterances"])


def _page(fields: Fields, clean_html: str) -> tuple[str, dict[str, str]]:
    try:
        return page_questions.chat_page(clean_html)
    except PageError as error:
        fields.defect("clean_html", str(error))
        return "", {}


def _turn_number(fields: Fields) -> int:
    if not fields.has("turn"):
        fields.defect("turn", "expected the place of the turn in the demonstration, but the field is missing")
    return fields.number("turn") or 0


def _newest(history: str, utterances: str) -> str:
    """The last message of the instructor: in the last turns, else among the first and last messages before them."""
    if said := list(_instructor_messages(history)):
        return said[-1]
    said = _SAID_AT.split(utterances)[1:]
    return said[-1].strip().removesuffix(";").rstrip() if said else ""


def _instructor_messages(history: str) -> Iterator[str]:
    """What the instructor said in the calls of a history. Rows are foreign: no character is looked at once per call."""
    place = 0
    while (begins := _INSTRUCTOR.search(history, place)) and (ends := _INSTRUCTOR_END.search(history, begins.end())):
        yield history[begins.end() : ends.start()]
        place = ends.end()


def _value(arguments: dict[str, str]) -> str:
    if "x" in arguments and "y" in arguments:
        return f"{arguments['x']} {arguments['y']}"
    if "target" in arguments:
        return f"{arguments.get('origin', '')} {arguments['target']}".strip()
    return next((arguments[name] for name in VALUES if name in arguments), "")


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """Recorded intent and arguments of a gold action `click(uid="...")`; ("", {}) for anything else.

    For the well-formed texts of the published data only; what models write needs a more lenient parser.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        return "", {}
    arguments = dict(_arguments(call[2]))
    return INTENTS.get(call[1].lower().replace("_", ""), ""), arguments


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of the arguments of a call. An end that was found is kept for what begins before it, so that no
    character is looked at once per argument."""
    place = string_end = plain_end = 0
    while named := _NAME.search(text, place):
        place = named.end()
        if named[2]:
            if string_end < place:
                found = _STRING_END.search(text, place)
                string_end = found.start() if found else len(text)
            if string_end < len(text):
                yield named[1], text[place:string_end]
                place = string_end + 1
        else:
            if plain_end < place and (found := _PLAIN_END.search(text, place)):
                plain_end = found.start()
            if _NEXT.match(text, plain_end):
                yield named[1], text[place:plain_end].strip()
                place = plain_end


# Rows


def _demo_of(row: StreamItem) -> str:
    """Id of the row's demonstration; its place where it has none, so that every such row stands alone."""
    value = row.value.get("demo") if isinstance(row.value, dict) else None
    return value if isinstance(value, str) and value.strip() else row.place


def _rows(path: Path) -> Iterator[StreamItem]:
    """The rows of a file with their places; damage is a row with an error."""
    try:
        with open_stream(path) as stream:
            is_csv = ".csv" in path.suffixes
            yield from _csv_rows(stream) if is_csv else elements(stream, MAX_ROW_BYTES)
    except (ArchiveError, OSError) as error:
        yield StreamItem("", 0, error=str(error))


def _csv_rows(stream: Any) -> Iterator[StreamItem]:
    csv.field_size_limit(MAX_ROW_BYTES)
    text = io.TextIOWrapper(stream, "utf-8", newline="")
    rows = csv.DictReader(text, strict=True)
    while True:
        try:
            row = next(rows, None)
        except (csv.Error, UnicodeDecodeError) as error:
            yield StreamItem(f"line {rows.line_num}", 0, error=f"is not valid CSV: {error}")
            return
        if row is None:
            return
        values: dict[str, Any] = {key: value for key, value in row.items() if isinstance(key, str)}
        if (values.get("turn") or "").isdecimal():  # CSV has no numbers
            values["turn"] = int(values["turn"])
        yield StreamItem(f"line {rows.line_num}", 0, values)
