"""The format `csv-tasks`: one line a step, `task,instruction,operation,value,html,target`."""

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from annotations.datasets.files import data_files
from annotations.datasets.records import (
    BadRecord,
    CandidateRecord,
    ConversationRecord,
    Readable,
    StepRecord,
    TurnRecord,
)
from annotations.dom.limits import PageError
from annotations.dom.tree import NODE_ID, parse

OFFERED = ("a", "button", "input", "select", "textarea")  # what an agent may choose from
SUFFIXES = (".csv",)
COLUMNS = {"task", "instruction", "operation", "value", "html", "target"}


def read(path: Path) -> Iterator[Readable]:
    """Every task of a file or folder; a file without the columns is one bad record."""
    for file in data_files(path, SUFFIXES):
        with file.open(newline="") as lines:
            rows = csv.DictReader(lines)
            if missing := COLUMNS - set(rows.fieldnames or ()):
                yield BadRecord(file.name, "line 1", ", ".join(sorted(missing)), "these columns are missing")
                continue
            for task, steps in groupby(rows, key=lambda row: row["task"]):
                try:
                    yield _conversation(task, list(steps))
                except PageError as error:
                    yield BadRecord(file.name, task, "html", str(error))


def _conversation(task: str, rows: list[dict[str, str]]) -> ConversationRecord:
    steps = [_step(f"{task}-{number}", row) for number, row in enumerate(rows)]
    turn = TurnRecord(task, rows[0]["instruction"], tuple(steps))
    return ConversationRecord(task, "example.org", "Example", "CSV", (turn,))


def _step(key: str, row: dict[str, str]) -> StepRecord:
    nodes = parse(row["html"]).iter(*OFFERED)
    offered = [CandidateRecord(node.attrib[NODE_ID], str(node.tag)) for node in nodes if NODE_ID in node.attrib]
    return StepRecord(
        key,
        row["operation"],
        row["value"],
        html=row["html"],
        positives=tuple(one for one in offered if one.node_id == row["target"]),
        negatives=tuple(one for one in offered if one.node_id != row["target"]),
    )
