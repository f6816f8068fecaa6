"""The marks that a recorder wrote onto the target of an action, which are not part of the page that agents and people
see. Core.

Mind2Web's recorder leaves the attribute `data_pw_testid_buckeye` with the action's id on the element that was acted
upon: in the page as recorded, sometimes in the cleaned one, and among the attributes of the candidate. Whoever reads
the mark knows the gold action. Import takes such marks away and keeps them with the step; an export puts them back to
the letter, so that what is written equals what was read.

WebLINX's `data-webtasks-id` and our `backend_node_id` stand on every element and tell nothing.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from annotations.datasets.records import PAGES, CandidateRecord, StepRecord
from annotations.dom.tree import NODE_ID

MARK = "data_pw_testid_buckeye"  # not `…_candidate`, which stands on every candidate
SHORTEST_ID = 6  # shorter ids are met by chance in tabindex and the like, and so tell nothing
CANDIDATES = ("positives", "negatives")
LOOK_BACK = 200  # characters before a value in which its attribute's name stands

MarkPlace = tuple[int, int]
Marks = dict[str, Any]  # page -> [[place, text]], candidate list -> [[number, place, text]]; places without the marks

_NAMED = re.compile(rf"""{MARK}\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+)|{MARK}(?=[\s/>])""")
_NAME_BEFORE = re.compile(r"""\s([^\s"'<>/=]+)\s*=\s*(["']?)$""")
_NAMED_IN_JSON = re.compile(rf'"{MARK}"\s*:\s*"(?:[^"\\]|\\.)*"')
_KEY_BEFORE = re.compile(r'"([^"\\]+)"\s*:\s*"$')
_COMMA_AFTER, _COMMA_BEFORE = re.compile(r"\s*,\s*"), re.compile(r",\s*$")


def take_marks(step: StepRecord) -> tuple[StepRecord, Marks]:
    """The step without its recorder's marks, and the marks for `put_back`: {} where there were none."""
    own = step.source_id if len(step.source_id) >= SHORTEST_ID else ""
    changed: dict[str, Any] = {}
    marks: Marks = {}
    for name in PAGES:
        text = getattr(step, name)
        if spans := sorted(set(_page_spans(text, own))):
            changed[name], marks[name] = _cut(text, spans)
    for name in CANDIDATES:
        records, found = _without(getattr(step, name), own)
        if found:
            changed[name], marks[name] = records, found
    return (replace(step, **changed), marks) if marks else (step, {})


def put_back(step: StepRecord, marks: Marks) -> StepRecord:
    """The inverse of `take_marks`."""
    if not marks:
        return step
    changed: dict[str, Any] = {name: _put(getattr(step, name), marks[name]) for name in PAGES if name in marks}
    for name in CANDIDATES:
        if name in marks:
            records = list(getattr(step, name))
            for number, own in groupby(marks[name], key=itemgetter(0)):
                marked = _put(records[number].attributes, [mark[1:] for mark in own])
                records[number] = replace(records[number], attributes=marked)
            changed[name] = tuple(records)
    return replace(step, **changed)


def moved(marks: list[list[Any]], cuts: list[int], was: int, now: int) -> list[list[Any]]:
    """Marks of a page in which texts of `was` characters, at `cuts`, were replaced by texts of `now` characters."""
    return [[place + sum(now - was for cut in cuts if cut < place), text] for place, text in marks]


def _page_spans(page: str, own: str) -> Iterator[MarkPlace]:
    """Where marks stand, each with the one blank before it. Linear, however hostile the page."""
    for start in _places(page, MARK):
        if (found := _NAMED.match(page, start)) and start and page[start - 1].isspace():
            yield start - 1, found.end()
    for start in _places(page, own):
        before = _NAME_BEFORE.search(page[max(0, start - LOOK_BACK) : start])
        end = start + len(own)
        if before is None or before[1] in (NODE_ID, MARK) or not _ends(page[end : end + 1], before[2]):
            continue
        yield start - len(before[0]), end + len(before[2])


def _ends(following: str, quote: str) -> bool:
    """Whether an attribute's value ends at this character: at its quote; an unquoted one at a blank or the end of its
    tag."""
    return following == quote if quote else following.isspace() or following in (">", "/")


def _without(records: tuple[CandidateRecord, ...], own: str) -> tuple[tuple[CandidateRecord, ...], list[list[Any]]]:
    clean, found = list(records), []
    for number, record in enumerate(records):
        if spans := _with_commas(record.attributes, sorted(set(_json_spans(record.attributes, own)))):
            text, taken = _cut(record.attributes, spans)
            clean[number] = replace(record, attributes=text)
            found += [[number, place, mark] for place, mark in taken]
    return tuple(clean), found


def _json_spans(attributes: str, own: str) -> Iterator[MarkPlace]:
    """Where marks stand in the JSON text of a candidate's attributes."""
    for start in _places(attributes, f'"{MARK}"'):
        if found := _NAMED_IN_JSON.match(attributes, start):
            yield start, found.end()
    value = json.dumps(own, ensure_ascii=attributes.isascii())[1:-1]
    for start in _places(attributes, value):
        before = _KEY_BEFORE.search(attributes[max(0, start - LOOK_BACK) : start])
        end = start + len(value)
        if before is not None and before[1] not in (NODE_ID, MARK) and attributes[end : end + 1] == '"':
            yield start - len(before[0]), end + 1


def _with_commas(text: str, spans: list[MarkPlace]) -> list[MarkPlace]:
    """The spans, each extended by one comma: the one before it, or the one after it where the one before is taken or
    missing."""
    found: list[MarkPlace] = []
    reached = 0
    for start, end in spans:
        before = _COMMA_BEFORE.search(text[max(reached, start - LOOK_BACK) : start])
        after = None if before else _COMMA_AFTER.match(text, end)
        found.append((start - len(before[0]) if before else start, after.end() if after else end))
        reached = found[-1][1]
    return found


def _places(text: str, wanted: str) -> Iterator[int]:
    place = text.find(wanted) if wanted else -1
    while place >= 0:
        yield place
        place = text.find(wanted, place + len(wanted))


def _cut(text: str, spans: list[MarkPlace]) -> tuple[str, list[list[Any]]]:
    """The text without these spans, and each span's text with its place in what is left."""
    kept, taken, length, reached = [], [], 0, 0
    for start, end in spans:
        kept.append(text[reached:start])
        length += start - reached
        taken.append([length, text[start:end]])
        reached = end
    return "".join([*kept, text[reached:]]), taken


def _put(text: str, marks: list[list[Any]]) -> str:
    parts, reached = [], 0
    for place, mark in marks:
        parts += [text[reached:place], mark]
        reached = place
    return "".join([*parts, text[reached:]])
