"""The text of a conversation that is frozen in a release, and reading it back as the record that writers take.

The frozen text is the canonical JSON (keys sorted, no spaces, UTF-8) of the record, in which pages and screenshots are
named by the SHA-256 of their content; its own SHA-256 therefore vouches for them too.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from annotations.datasets.recorder_marks import put_back
from annotations.datasets.records import (
    PAGES,
    CandidateRecord,
    ConversationRecord,
    FileRecord,
    ImageRecord,
    StepRecord,
    TurnRecord,
)
from annotations.models.corpus.conversations import Conversation, Step
from annotations.models.corpus.pages import Screenshot, Snapshot


class DamagedRelease(ValueError):
    """Frozen content whose checksum is not the recorded one, or a page of it that is gone."""


def freeze(conversation: Conversation) -> bytes:
    """The text by which a release keeps a conversation. Its turns, steps and pages were fetched by `for_freezing`."""
    record = {
        "source_id": conversation.source_id,
        "website": conversation.website.name,
        "domain": conversation.website.domain,
        "subdomain": conversation.website.subdomain,
        "split": conversation.split,
        "extra": conversation.extra,
        "turns": [
            {
                "source_id": turn.source_id,
                "instruction": turn.instruction,
                "source_index": turn.source_index,
                "extra": turn.extra,
                "steps": [_frozen_step(step) for step in turn.steps.all()],
            }
            for turn in conversation.turns.all()
        ],
        "files": [{"path": kept.path, **_frozen_bytes(kept.content)} for kept in conversation.source_files.all()],
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def _frozen_step(step: Step) -> dict[str, Any]:
    positives, negatives = step.candidate_records()
    image = step.screenshot
    return {
        "source_id": step.source_id,
        "operation": step.operation,
        "value": step.value,
        "original_operation": step.original_operation,
        "action_repr": step.action_repr,
        "html": step.snapshot.sha256 if step.snapshot else "",
        "raw_html": step.raw_snapshot.sha256 if step.raw_snapshot else "",
        "html_after": step.snapshot_after.sha256 if step.snapshot_after and step.keeps_page_after else "",
        "positives": [_frozen_candidate(candidate) for candidate in positives],
        "negatives": [_frozen_candidate(candidate) for candidate in negatives],
        "source_index": step.source_index,
        "extra": step.extra,
        "screenshot": {"media_type": image.media_type, "sha256": image.sha256} if image else None,
    } | ({"marks": step.marks} if step.marks else {})


def _frozen_candidate(candidate: CandidateRecord) -> dict[str, Any]:
    """The candidate's fields, without those that have their default, as a page has hundreds of candidates."""
    found = {field.name: getattr(candidate, field.name) for field in fields(candidate)}
    return {name: value for name, value in found.items() if value is not None and value != "{}"}


def _frozen_bytes(data: bytes) -> dict[str, str]:
    """Bytes as JSON: text stays text, as it compresses better; other bytes become base64."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def release_sha256(checksums: Iterator[str] | list[str]) -> str:
    """The checksum of a release: the SHA-256 of its conversations' checksums in order, one per line."""
    total = hashlib.sha256()
    for checksum in checksums:
        total.update(f"{checksum}\n".encode())
    return total.hexdigest()


def thaw(objects: list[dict[str, Any]]) -> Iterator[ConversationRecord]:
    """The records of frozen objects, their pages read together; raises DamagedRelease where one is gone."""
    pages, images = _pages(objects), _images(objects)
    for frozen in objects:
        yield _thawed(frozen, pages, images)


def _steps(objects: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (step for frozen in objects for turn in frozen["turns"] for step in turn["steps"])


def page_shas(frozen: dict[str, Any]) -> set[str]:
    """The pages that a frozen conversation names."""
    return {step[name] for step in _steps([frozen]) for name in PAGES if step[name]}


def _pages(objects: list[dict[str, Any]]) -> dict[str, str]:
    wanted = {step[name] for step in _steps(objects) for name in PAGES if step[name]}
    found = {page.sha256: page.html for page in Snapshot.objects.with_content().filter(sha256__in=wanted)}
    if missing := wanted - found.keys():
        raise DamagedRelease(f"{len(missing)} pages of the release are gone, {min(missing)} is one of them")
    return found | {"": ""}


def _images(objects: list[dict[str, Any]]) -> dict[str, bytes]:
    wanted = {step["screenshot"]["sha256"] for step in _steps(objects) if step["screenshot"]}
    found = {image.sha256: bytes(image.data) for image in Screenshot.objects.filter(sha256__in=wanted)}
    if missing := wanted - found.keys():
        raise DamagedRelease(f"{len(missing)} screenshots of the release are gone, {min(missing)} is one of them")
    return found


def _thawed(frozen: dict[str, Any], pages: dict[str, str], images: dict[str, bytes]) -> ConversationRecord:
    turns = tuple(
        TurnRecord(**turn | {"steps": tuple(_thawed_step(step, pages, images) for step in turn["steps"])})
        for turn in frozen["turns"]
    )
    files = tuple(
        FileRecord(kept["path"], kept["text"].encode() if "text" in kept else base64.b64decode(kept["base64"]))
        for kept in frozen["files"]
    )
    return ConversationRecord(**frozen | {"turns": turns, "files": files})


def _thawed_step(step: dict[str, Any], pages: dict[str, str], images: dict[str, bytes]) -> StepRecord:
    image, marks = step["screenshot"], step.get("marks", {})
    step = {name: value for name, value in step.items() if name != "marks"}
    changed: dict[str, Any] = {name: pages[step[name]] for name in PAGES} | {
        name: tuple(CandidateRecord(**candidate) for candidate in step[name]) for name in ("positives", "negatives")
    }
    changed["screenshot"] = ImageRecord(image["media_type"], images[image["sha256"]]) if image else None
    return put_back(StepRecord(**step | changed), marks)
