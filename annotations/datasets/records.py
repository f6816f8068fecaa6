"""Frozen records that dataset readers yield and writers take: the only shape between files and database.

A reader turns one file into `ConversationRecord`s and `BadRecord`s; `annotations.corpus.importing` is the only
code that writes them to the database. Field names follow the glossary (turn, step, instruction, target),
with the published name in the comment where it differs.
"""

from dataclasses import dataclass, field
from typing import Any, TypedDict


@dataclass(frozen=True)
class CandidateRecord:
    """One element that a ranker may offer at a step (Mind2Web `pos_candidates` / `neg_candidates`)."""

    node_id: str  # backend_node_id, always a string
    tag: str
    attributes: str = "{}"  # JSON text of all raw attributes, kept as published
    is_original_target: bool | None = None  # positives only; None where the source has no such field
    is_top_level_target: bool | None = None


@dataclass(frozen=True)
class ImageRecord:
    """A screenshot, by content."""

    media_type: str  # "image/png", "image/jpeg" or "image/webp"
    data: bytes


@dataclass(frozen=True)
class FileRecord:
    """A file of the source that is kept as it is, for export and for what has no column."""

    path: str  # inside the conversation's folder, "bboxes/bboxes-3.json"
    data: bytes


PAGES = ("html", "raw_html", "html_after")  # fields of a step that hold a page


@dataclass(frozen=True)
class StepRecord:
    """One gold observation with one gold action."""

    source_id: str  # action_uid
    operation: str  # CLICK, TYPE, SELECT, ... (annotations.models.Operation)
    value: str = ""
    original_operation: str = ""  # original_op
    action_repr: str = ""  # "[button]  Search -> CLICK"
    html: str = ""  # cleaned_html: well-formed XML with backend_node_id attributes
    raw_html: str = ""  # page as recorded, "" where the source has none
    html_after: str = ""  # final page, only where the source keeps it; else the next step's page is used
    positives: tuple[CandidateRecord, ...] = ()
    negatives: tuple[CandidateRecord, ...] = ()
    screenshot: ImageRecord | None = None
    source_index: int | None = None  # WebLINX: the original turn number
    extra: dict[str, Any] = field(default_factory=dict)  # source fields without a column, kept for export


@dataclass(frozen=True)
class TurnRecord:
    """One user instruction and the steps that answer it."""

    source_id: str  # annotation_id
    instruction: str  # confirmed_task
    steps: tuple[StepRecord, ...] = ()
    source_index: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)


class Site(TypedDict):
    """Where a conversation takes place."""

    website: str
    domain: str
    subdomain: str


@dataclass(frozen=True)
class ConversationRecord:
    """Ordered turns of one user, usually on one website."""

    source_id: str  # task_id (MT-Mind2Web), annotation_id (Mind2Web), demoId (MiniWoB++)
    website: str
    domain: str
    subdomain: str
    turns: tuple[TurnRecord, ...] = ()
    split: str = ""  # "" = decided by the file's folder or by --split
    extra: dict[str, Any] = field(default_factory=dict)
    files: tuple[FileRecord, ...] = field(default=(), repr=False)  # formats that are a folder per conversation


@dataclass(frozen=True)
class BadRecord:
    """A record that could not be read; the others of its file still land."""

    file: str
    record: str  # "line 12", "[3]", "[3].turns[0].actions[2]"
    field: str
    message: str  # what was found and what was expected


@dataclass(frozen=True)
class SkippedRecord:
    """A valid record that is left out on purpose, counted by reason (a failed human episode, say)."""

    file: str
    record: str
    reason: str


Readable = ConversationRecord | BadRecord | SkippedRecord
