"""Rows and memory items of conversations agree with the published loader's."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotations.datasets import reader
from annotations.datasets.flatten import ActionRow, flatten, unsqueeze
from annotations.datasets.records import BadRecord, ConversationRecord
from tests.conformance.cases import params
from tests.conformance.crashes import error_of


def records_of(case: dict[str, Any], folder: Path) -> list[Any]:
    file = folder / "conversations.json"
    file.write_text(json.dumps(case["conversations"]), encoding="utf-8")
    return list(reader("mt-mind2web")(file))


def as_case_row(row: ActionRow) -> dict[str, Any]:
    earlier = row.previous_turns
    return {
        "task_id": row.conversation.source_id,
        "website": row.conversation.website,
        "domain": row.conversation.domain,
        "subdomain": row.conversation.subdomain,
        "confirmed_task": row.turn.instruction,
        "annotation_id": row.turn.source_id,
        "previous_actions": list(row.previous_actions),
        "action_uid": row.step.source_id,
        "operation": {
            "op": row.step.operation,
            "original_op": row.step.original_operation,
            "value": row.step.value,
        },
        "previous_turn_annotation_ids": None if earlier is None else [turn.source_id for turn in earlier],
        "previous_turn_lengths": None if earlier is None else [len(turn.steps) for turn in earlier],
        "unsqueezed": [
            {
                "action_uid": item.step.source_id,
                "action_reprs": item.step.action_repr,
                "confirmed_task": item.turn.instruction,
                "annotation_id": item.turn.source_id,
                "past_actions": list(item.past_actions),
            }
            for item in unsqueeze(earlier)
        ],
    }


@pytest.mark.parametrize("case", params("flatten_conversations"))
def test_rows_and_memory_agree_with_the_published_loader(case, tmp_path):
    records = records_of(case, tmp_path)
    if error_of(case):  # what the published loader stops at is reported, and the others land
        assert any(isinstance(record, BadRecord) for record in records)
        return
    assert all(isinstance(record, ConversationRecord) for record in records), records
    assert [as_case_row(row) for row in flatten(records)] == case["rows"]
    assert [row.step.source_id for row in flatten(records, train=True)] == case["train_row_uids"]
