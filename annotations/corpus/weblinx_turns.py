"""Stored conversations as WebLINX's replay turns: what agents read of a demonstration besides its steps.

A step's place in the replay is its `source_index`, so the turns before it are `replay_turns(conversation)[:index]`.
Conversations of other formats give the turns that an export in WebLINX's format would write.
"""

import json
from typing import Any

from annotations.datasets.weblinx.build import demonstration
from annotations.datasets.weblinx.demos import CANDIDATES
from annotations.datasets.weblinx.turns import RecordedTurn, boxes_name
from annotations.models import Conversation, SourceFile, Step

REPLAY = "replay.json"


def replay_turns(conversation: Conversation) -> list[RecordedTurn]:
    """The replay's turns in order, as published. One query for a demonstration; the whole conversation for others."""
    content = _file(conversation.pk, REPLAY)
    if content is not None:
        return content["data"]
    (record,) = Conversation.objects.filter(pk=conversation.pk).records()
    return demonstration(record).turns


def bboxes(step: Step) -> dict[str, Any] | None:
    """Boxes by uid of the step's page in CSS pixels; None where none were recorded. One query besides the step's."""
    path = boxes_name(step.extra.get("page", ""))
    return _file(step.turn.conversation_id, path) if path else None


def page_html(step: Step) -> str | None:
    """The page as recorded, with line ends as Python reads them from a text file (all of them a line feed); None where
    none was recorded."""
    if step.raw_snapshot is None:
        return None
    return step.raw_snapshot.html.replace("\r\n", "\n").replace("\r", "\n")


def candidate_scores(step: Step) -> list[dict[str, Any]]:
    """What a candidates file said of the step: uid, label, score, rank, and for the first ones `doc`; best rank
    first, [] where none was imported."""
    found = _file(step.turn.conversation_id, CANDIDATES) or {}
    return found.get(str(step.source_index), [])


def _file(conversation_id: int, path: str) -> dict[str, Any] | None:
    kept = SourceFile.objects.filter(conversation_id=conversation_id, path=path).first()
    return json.loads(kept.content) if kept is not None else None
