"""One conversation per line with everything a record holds: the product's own lossless format.

    {"version": 1, "source_id", "website", "domain", "subdomain", "split", "extra": {},
     "turns": [{"source_id", "instruction", "source_index": int or null, "extra": {},
       "steps": [{"source_id", "operation", "value", "original_operation", "action_repr",
         "html", "raw_html", "html_after", "source_index": int or null, "extra": {},
         "positives": [candidate], "negatives": [candidate],
         "screenshot": {"media_type", "data": base64 text} or null}]}],
     "files": [{"path", "data": base64 text}], only where there are some,
     "canary": text after "version", only in exports}

A candidate is {"node_id", "tag", "attributes": JSON text, "is_original_target": bool or null,
"is_top_level_target": bool or null}. Field names are those of `annotations.datasets.records`, where they are
explained. What is absent has its default; what is unknown is refused, so that nothing is lost unnoticed. A canary is
of the dataset or release that was written and no part of its conversations: reading passes over it.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, BinaryIO

from annotations.datasets.fields import Fields, canonical
from annotations.datasets.json_records import SUFFIXES, read_records
from annotations.datasets.mind2web import OPERATIONS
from annotations.datasets.records import (
    CandidateRecord,
    ConversationRecord,
    FileRecord,
    ImageRecord,
    Readable,
    StepRecord,
    TurnRecord,
)
from annotations.dom.limits import PageError
from annotations.sandbox import page_questions

__all__ = ["SUFFIXES", "VERSION", "read", "write"]

VERSION = 1
MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp")


def read(path: Path) -> Iterator[Readable]:
    """Every conversation below `path`, a file or a folder; raises FileNotFoundError when there is nothing."""
    return read_records(path, _conversation, "source_id")


def write(records: Iterable[ConversationRecord], out: BinaryIO, canary: str = "") -> int:
    """Write one conversation per line, one in memory; returns how many. The same records give the same bytes.

    Every line says the canary where there is one, for lines are what gets copied out of a file and trained on.
    """
    count = 0
    head = {"version": VERSION} | ({"canary": canary} if canary else {})
    for record in records:
        row = head | _plain(record)
        if not record.files:
            del row["files"]
        out.write(json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        count += 1
    return count


def _plain(value: Any) -> Any:
    """A record as JSON: dataclasses as objects in the order of their fields, bytes as base64."""
    if value is None or type(value) is str:  # as nearly all values are
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return canonical(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields_of(value)}
    return value


def _known(record: type) -> frozenset[str]:
    return frozenset(field.name for field in fields_of(record))


CONVERSATION_KEYS = _known(ConversationRecord) | {"version", "canary"}
FILE_KEYS = _known(FileRecord)
TURN_KEYS, STEP_KEYS, CANDIDATE_KEYS = _known(TurnRecord), _known(StepRecord), _known(CandidateRecord)


def _refuse_unknown(fields: Fields, known: frozenset[str]) -> None:
    for name in fields.rest(known):
        fields.defect(name, "expected only the fields of this format, found one that it does not know")


def _conversation(fields: Fields, split: str) -> ConversationRecord:
    if fields.number("version") not in (None, VERSION):
        fields.defect("version", f"expected {VERSION}, the version that this program reads")
    fields.text("canary", required=False)
    _refuse_unknown(fields, CONVERSATION_KEYS)
    return ConversationRecord(
        source_id=fields.text("source_id", filled=True),
        website=fields.text("website", filled=True),
        domain=fields.text("domain"),
        subdomain=fields.text("subdomain"),
        turns=tuple(_turn(turn) for turn in fields.objects("turns")),
        split=fields.text("split", required=False) or split,
        extra=fields.extra(),
        files=tuple(_file(item) for item in fields.objects("files")) if fields.has("files") else (),
    )


def _file(fields: Fields) -> FileRecord:
    _refuse_unknown(fields, FILE_KEYS)
    return FileRecord(fields.text("path", filled=True), _bytes(fields, "data"))


def _turn(fields: Fields) -> TurnRecord:
    _refuse_unknown(fields, TURN_KEYS)
    return TurnRecord(
        source_id=fields.text("source_id", filled=True),
        instruction=fields.text("instruction"),
        steps=tuple(_step(step) for step in fields.objects("steps")),
        source_index=fields.number("source_index"),
        extra=fields.extra(),
    )


def _step(fields: Fields) -> StepRecord:
    _refuse_unknown(fields, STEP_KEYS)
    texts = {
        name: fields.text(name, required=False)
        for name in ("value", "original_operation", "action_repr", "html", "raw_html", "html_after")
    }
    if texts["html"]:
        try:
            page_questions.check(texts["html"])
        except PageError as error:
            fields.defect("html", f"expected well-formed XML: {error}")
    operation = fields.text("operation", filled=True)
    if operation.strip() and operation not in OPERATIONS:
        fields.defect("operation", f"expected one of {', '.join(sorted(OPERATIONS))}, found {operation[:40]!r}")
    return StepRecord(
        source_id=fields.text("source_id", filled=True),
        operation=operation,
        **texts,
        positives=tuple(_candidate(item) for item in fields.objects("positives")),
        negatives=tuple(_candidate(item) for item in fields.objects("negatives")),
        screenshot=_image(fields.object("screenshot", required=False)),
        source_index=fields.number("source_index"),
        extra=fields.extra(),
    )


def _candidate(fields: Fields) -> CandidateRecord:
    _refuse_unknown(fields, CANDIDATE_KEYS)
    return CandidateRecord(
        node_id=fields.text("node_id", filled=True),
        tag=fields.text("tag"),
        attributes=fields.text("attributes", required=False) or "{}",
        is_original_target=fields.flag("is_original_target"),
        is_top_level_target=fields.flag("is_top_level_target"),
    )


def _image(fields: Fields | None) -> ImageRecord | None:
    if fields is None:
        return None
    media_type = fields.text("media_type")
    if media_type not in MEDIA_TYPES:
        fields.defect("media_type", f"expected one of {', '.join(MEDIA_TYPES)}, found {media_type[:40]!r}")
    return ImageRecord(media_type, _bytes(fields, "data"))


def _bytes(fields: Fields, name: str) -> bytes:
    try:
        return base64.b64decode(fields.text(name), validate=True)
    except (binascii.Error, ValueError) as error:
        fields.defect(name, f"expected base64 text: {error}")
        return b""
