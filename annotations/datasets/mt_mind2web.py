"""MT-Mind2Web: files that hold lists of conversations (sources.md M1.2)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from annotations.datasets.fields import Fields
from annotations.datasets.json_records import SUFFIXES, read_records
from annotations.datasets.mind2web import (
    SITE_KEYS,
    known_split,
    once,
    read_steps,
    site,
    split_field,
    steps_object,
    with_extra,
    write_list,
)
from annotations.datasets.records import ConversationRecord, Readable, TurnRecord

__all__ = ["SUFFIXES", "read", "write"]

CONVERSATION_KEYS = frozenset({"task_id", *SITE_KEYS, "turns"})
TURN_KEYS = frozenset({"annotation_id", "confirmed_task", "action_reprs", "actions", "source_index"})


def read(path: Path) -> Iterator[Readable]:
    """Every conversation below `path`, a file or a folder; raises FileNotFoundError when there is nothing.

    Files are read in the order of their names, as the published loader does.
    """
    return read_records(path, _conversation, "task_id")


def write(records: Iterable[ConversationRecord], out: BinaryIO) -> int:
    """Write conversations as a list, one per line; returns how many.

    Beyond the published fields a record's split, final pages (`html_after`) and `source_index` are written
    where it has them. Screenshots have no place in this format and are left out; `jsonl` keeps them.
    """
    return write_list((_conversation_object(record) for record in records), out)


def _conversation(fields: Fields, split: str) -> ConversationRecord:
    source_id, place = fields.text("task_id", filled=True), site(fields)
    actions: dict[str, str] = {}
    ids: dict[str, str] = {}
    turns = []
    for turn in fields.objects("turns"):
        turns.append(_turn(turn, actions))
        once(turn, "annotation_id", turns[-1].source_id, ids)
    if not turns and fields.length("turns") == 0:
        fields.defect("turns", "expected at least one turn, found an empty list")
    extra = fields.rest(CONVERSATION_KEYS)
    own_split = known_split(extra)
    return ConversationRecord(source_id, **place, turns=tuple(turns), split=split or own_split, extra=extra)


def _turn(fields: Fields, seen: dict[str, str]) -> TurnRecord:
    return TurnRecord(
        source_id=fields.text("annotation_id", filled=True),
        instruction=fields.text("confirmed_task"),
        steps=read_steps(fields, seen),
        source_index=fields.number("source_index"),
        extra=fields.rest(TURN_KEYS),
    )


def _conversation_object(record: ConversationRecord) -> dict[str, Any]:
    conversation = {
        "task_id": record.source_id,
        "website": record.website,
        "domain": record.domain,
        "subdomain": record.subdomain,
        "turns": [_turn_object(turn) for turn in record.turns],
    }
    return with_extra(conversation, record.extra | split_field(record))


def _turn_object(turn: TurnRecord) -> dict[str, Any]:
    own = {} if turn.source_index is None else {"source_index": turn.source_index}
    published = {"annotation_id": turn.source_id, "confirmed_task": turn.instruction, **steps_object(turn)}
    return with_extra(published, turn.extra | own)
