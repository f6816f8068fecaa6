"""Files in MT-Mind2Web's format with a few tiny conversations, written where a test needs them."""

import json
from pathlib import Path
from typing import Any

from annotations.datasets.records import ConversationRecord, StepRecord, TurnRecord
from annotations.models import Conversation, Dataset, Step, Target, Turn

PAGE = (
    '<html backend_node_id="1"><body backend_node_id="2"><h1 backend_node_id="3"><text backend_node_id="6">'
    '{title}</text></h1><button backend_node_id="4"><text backend_node_id="7">Search</text></button>'
    '<a backend_node_id="5"><text backend_node_id="8">Help</text></a></body></html>'
)


def conversation(name: str, *, turns: int = 2, steps: int = 2, say: str = "Find it", **fields: Any) -> dict[str, Any]:
    """One conversation whose every step clicks the button of a page of its own."""
    return {
        "task_id": name,
        "website": "shop",
        "domain": "Shopping",
        "subdomain": "Fashion",
        "turns": [_turn(f"{name}_{index}", steps, f"{say}, part {index + 1}") for index in range(turns)],
    } | fields


def _turn(name: str, steps: int, instruction: str) -> dict[str, Any]:
    return {
        "annotation_id": name,
        "confirmed_task": instruction,
        "action_reprs": ["[button] Search -> CLICK"] * steps,
        "actions": [_action(f"{name}_{index}") for index in range(steps)],
    }


def _action(name: str) -> dict[str, Any]:
    return {
        "action_uid": name,
        "raw_html": "",
        "cleaned_html": PAGE.format(title=name),
        "operation": {"original_op": "CLICK", "op": "CLICK", "value": ""},
        "pos_candidates": [
            {
                "tag": "button",
                "backend_node_id": "4",
                "attributes": "{}",
                "is_original_target": True,
                "is_top_level_target": True,
            }
        ],
        "neg_candidates": [{"tag": "a", "backend_node_id": "5", "attributes": "{}"}],
    }


def write(path: Path, conversations: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(conversations), "utf-8")
    return path


def record(name: str, *, html: str = "", **fields: Any) -> ConversationRecord:
    """A conversation of one step as readers yield it."""
    step = StepRecord(f"{name}_0_0", "CLICK", html=html or PAGE.format(title=name))
    return ConversationRecord(
        name, "shop", "Shopping", "Fashion", (TurnRecord(f"{name}_0", "Find it", (step,)),), **fields
    )


def contents(dataset: Dataset) -> list[tuple]:
    """Everything of a dataset that an import decides, without ids and times."""
    conversations = dataset.conversations.order_by("position").values_list(
        "source_id", "split", "position", "content_sha256", "website__name"
    )
    turns = Turn.objects.filter(conversation__dataset=dataset).order_by("conversation__position", "index")
    steps = Step.objects.filter(turn__conversation__dataset=dataset).order_by(
        "turn__conversation__position", "turn__index", "index"
    )
    targets = Target.objects.filter(step__turn__conversation__dataset=dataset).order_by("step__source_id", "position")
    return [
        *conversations,
        *turns.values_list("source_id", "index", "instruction"),
        *steps.values_list("source_id", "index", "operation", "snapshot__sha256", "snapshot_after__sha256"),
        *targets.values_list("step__source_id", "node_id", "node_order", "pruned"),
    ]


def counts(dataset: Dataset) -> dict[str, int]:
    return {
        "conversations": Conversation.objects.filter(dataset=dataset).count(),
        "turns": Turn.objects.filter(conversation__dataset=dataset).count(),
        "steps": Step.objects.filter(turn__conversation__dataset=dataset).count(),
    }
