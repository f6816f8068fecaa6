"""Mind2Web: files that hold lists of tasks (sources.md M1.1).

One task is one conversation of one turn. A page is parsed while reading, because a malformed one makes
its task bad. Fields that the format does not know are kept in `extra` and written back.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Required, TypedDict

from annotations.datasets.fields import Fields, canonical
from annotations.datasets.json_records import SPLITS, SUFFIXES, read_records
from annotations.datasets.records import CandidateRecord, ConversationRecord, Readable, Site, StepRecord, TurnRecord
from annotations.dom.limits import PageError
from annotations.dom.tree import NODE_ID
from annotations.sandbox import page_questions

__all__ = ["NUMBERED", "SUFFIXES", "read", "write"]

NUMBERED = True  # files are read in the order of the integer after the last "_"
# The published files use the first three; files that we write may hold all operations of the product.
OPERATIONS = frozenset(
    [
        *("CLICK", "TYPE", "SELECT", "PRESS", "HOVER", "SCROLL", "DRAG", "LOAD", "SAY", "SUBMIT", "CHANGE"),
        *("COPY", "PASTE", "TAB_CREATE", "TAB_REMOVE", "TAB_SWITCH", "STOP"),
    ]
)
SITE_KEYS = ("website", "domain", "subdomain")
TASK_KEYS = frozenset({"annotation_id", *SITE_KEYS, "confirmed_task", "action_reprs", "actions"})
ACTION_KEYS = frozenset(
    [
        *("action_uid", "raw_html", "cleaned_html", "operation", "pos_candidates", "neg_candidates"),
        *("html_after", "source_index"),  # written by us
    ]
)
OPERATION_KEYS = frozenset({"original_op", "op", "value"})
CANDIDATE_KEYS = frozenset({"tag", "backend_node_id", "attributes", "is_original_target", "is_top_level_target"})


def read(path: Path) -> Iterator[Readable]:
    """Every task below `path`, a file or a folder; raises FileNotFoundError when there is nothing."""
    return read_records(path, _task, "annotation_id", numbered=NUMBERED)


def write(records: Iterable[ConversationRecord], out: BinaryIO) -> int:
    """Write conversations of one turn as a list of tasks, one per line; returns how many.

    Raises ValueError for a conversation of several turns. A task has one id: the conversation's is written.
    Screenshots have no place in this format and are left out.
    """
    return write_list((_task_object(record) for record in records), out)


def _task(fields: Fields, split: str) -> ConversationRecord:
    source_id = fields.text("annotation_id", filled=True)
    place = site(fields)
    turn = TurnRecord(source_id, fields.text("confirmed_task"), read_steps(fields, {}))
    extra = fields.rest(TASK_KEYS)
    own_split = known_split(extra)
    return ConversationRecord(source_id, **place, turns=(turn,), split=split or own_split, extra=extra)


def _task_object(record: ConversationRecord) -> dict[str, Any]:
    if len(record.turns) != 1:
        raise ValueError(
            f"conversation {record.source_id!r} has {len(record.turns)} turns and a Mind2Web task has one: "
            "export it as mt-mind2web or jsonl"
        )
    turn = record.turns[0]
    task = {
        "annotation_id": record.source_id,
        "website": record.website,
        "domain": record.domain,
        "subdomain": record.subdomain,
        "confirmed_task": turn.instruction,
        **steps_object(turn),
    }
    return with_extra(task, turn.extra | record.extra | split_field(record))


# What Mind2Web and MT-Mind2Web share


def site(fields: Fields) -> Site:
    """Where a conversation takes place."""
    return Site(
        website=fields.text("website", filled=True), domain=fields.text("domain"), subdomain=fields.text("subdomain")
    )


def known_split(extra: dict[str, Any]) -> str:
    """Remove the split that our own exports note from `extra`, and return it; "" when there is none that we know."""
    return extra.pop("split") if extra.get("split") in SPLITS else ""


def split_field(record: ConversationRecord) -> dict[str, str]:
    """The split as a field, so that a file moved out of its folder still tells it."""
    return {"split": record.split} if record.split else {}


def read_steps(fields: Fields, seen: dict[str, str]) -> tuple[StepRecord, ...]:
    """The actions of a task or turn; `seen` holds the places of the action ids of its conversation so far."""
    reprs, actions = fields.texts("action_reprs"), fields.objects("actions")
    count = fields.length("actions")
    if fields.has("action_reprs") and count >= 0 and len(reprs) != count:
        fields.defect("action_reprs", f"expected one per action ({count}), found {len(reprs)}")
    if len(reprs) != len(actions):
        reprs = [""] * len(actions)
    steps = []
    for action, action_repr in zip(actions, reprs, strict=True):
        steps.append(_step(action, action_repr))
        once(action, "action_uid", steps[-1].source_id, seen)
    return tuple(steps)


def once(fields: Fields, name: str, value: str, seen: dict[str, str]) -> None:
    """Note a defect when the id `value` was seen before in its conversation."""
    if value and value in seen:
        fields.defect(name, f"expected an id used once, but {value!r} is also that of {seen[value]}")
    seen.setdefault(value, fields.record)


def _step(fields: Fields, action_repr: str) -> StepRecord:
    source_id = fields.text("action_uid", filled=True)
    html = fields.text("cleaned_html", filled=True)
    page = html if html.strip() and _can_be_read(fields, html) else ""
    extra = fields.rest(ACTION_KEYS)
    positives = _candidates(fields, "pos_candidates", page, extra)
    negatives = _candidates(fields, "neg_candidates", page, extra)
    return StepRecord(
        source_id=source_id,
        **_operation(fields, extra),
        action_repr=action_repr,
        html=html,
        raw_html=fields.text("raw_html", required=False),
        html_after=fields.text("html_after", required=False),
        positives=positives,
        negatives=negatives,
        source_index=fields.number("source_index"),
        extra=extra,
    )


def _can_be_read(fields: Fields, html: str) -> bool:
    try:
        page_questions.check(html)
    except PageError as error:
        fields.defect("cleaned_html", f"expected well-formed XML: {re.sub(r' [(]<string>.*', '', str(error))}")
        return False
    return True


class _OperationJson(TypedDict, total=False):
    operation: Required[str]
    value: str
    original_operation: str


def _operation(fields: Fields, extra: dict[str, Any]) -> _OperationJson:
    operation = fields.object("operation")
    if operation is None:
        return {"operation": ""}
    name = operation.text("op")
    if name and name not in OPERATIONS:
        operation.defect("op", f"expected one of CLICK, TYPE, SELECT, found {name[:40]!r}")
    elif not name and operation.has("op"):
        operation.defect("op", "expected one of CLICK, TYPE, SELECT, found an empty string")
    if rest := operation.rest(OPERATION_KEYS):
        extra["operation"] = rest
    return {
        "operation": name,
        "value": operation.text("value", required=name != "CLICK"),  # a click's value is never used
        "original_operation": operation.text("original_op", required=False),
    }


def _candidates(fields: Fields, name: str, page: str, extra: dict[str, Any]) -> tuple[CandidateRecord, ...]:
    """Candidates; unknown fields of theirs go to `extra[name]` by position. A tag left out is looked up on the page."""
    found: list[CandidateRecord] = []
    unknown: dict[str, Any] = {}
    tags: dict[str, str] = {}
    for index, item in enumerate(fields.items(name)):
        if (plain := _plain_candidate(item)) is not None:
            found.append(plain)
        elif (candidate := fields.item(name, index, item)) is not None:
            record = _candidate(candidate)
            if not record.tag and page:
                tags = tags or page_questions.tags(page)
                record = replace(record, tag=tags.get(record.node_id, ""))
            found.append(record)
            if rest := candidate.rest(CANDIDATE_KEYS):
                unknown[str(index)] = rest
    if unknown:
        extra[name] = unknown
    return tuple(found)


def _plain_candidate(item: Any) -> CandidateRecord | None:
    """The candidate, where its three fields are plainly sound, as nearly all are; None where `_candidates` must check
    it field by field. Only for speed."""
    if type(item) is dict and len(item) == 3:
        node_id, tag, attributes = item.get(NODE_ID), item.get("tag"), item.get("attributes")
        if (
            type(node_id) is str
            and type(tag) is str
            and type(attributes) is str
            and node_id.isalnum()
            and tag.isidentifier()
            and attributes.isascii()
            and "\0" not in attributes
            and _is_object(attributes)
        ):
            return CandidateRecord(node_id, tag, attributes)
    return None


def _candidate(fields: Fields) -> CandidateRecord:
    attributes = fields.text("attributes", required=False) or "{}"
    if attributes != "{}" and not _is_object(attributes):
        fields.defect("attributes", f"expected the JSON text of an object, found {attributes[:40]!r}")
    return CandidateRecord(
        fields.text(NODE_ID, filled=True),
        fields.text("tag", required=False),
        attributes,
        fields.flag("is_original_target"),
        fields.flag("is_top_level_target"),
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def steps_object(turn: TurnRecord) -> dict[str, Any]:
    """The fields of a task or turn that hold its steps."""
    return {
        "action_reprs": [step.action_repr for step in turn.steps],
        "actions": [_action_object(step) for step in turn.steps],
    }


def _action_object(step: StepRecord) -> dict[str, Any]:
    operation = {"original_op": step.original_operation, "op": step.operation, "value": step.value}
    action = {
        "action_uid": step.source_id,
        "raw_html": step.raw_html,
        "cleaned_html": step.html,
        "operation": with_extra(operation, step.extra.get("operation", {})),
        "pos_candidates": _candidate_objects(step.positives, step.extra.get("pos_candidates", {})),
        "neg_candidates": _candidate_objects(step.negatives, step.extra.get("neg_candidates", {})),
    }
    own = {"html_after": step.html_after or None, "source_index": step.source_index}
    return with_extra(action, step.extra | {key: value for key, value in own.items() if value is not None})


def _candidate_objects(candidates: tuple[CandidateRecord, ...], unknown: dict[str, Any]) -> list[dict[str, Any]]:
    objects = []
    for index, candidate in enumerate(candidates):
        row: dict[str, Any] = {"tag": candidate.tag, NODE_ID: candidate.node_id, "attributes": candidate.attributes}
        if candidate.is_original_target is not None:
            row["is_original_target"] = candidate.is_original_target
        if candidate.is_top_level_target is not None:
            row["is_top_level_target"] = candidate.is_top_level_target
        objects.append(with_extra(row, unknown.get(str(index), {})))
    return objects


def with_extra(known: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """The published fields in their order, then the others by name."""
    return known | {key: value for key, value in canonical(extra).items() if key not in known}


def write_list(objects: Iterable[dict[str, Any]], out: BinaryIO) -> int:
    """Write a JSON list with one element per line, one element in memory; the same objects give the same bytes."""
    count = 0
    out.write(b"[")
    for item in objects:
        text = json.dumps(item, ensure_ascii=False, allow_nan=False)
        out.write((b",\n" if count else b"\n") + text.encode())
        count += 1
    out.write(b"\n]\n" if count else b"]\n")
    return count
