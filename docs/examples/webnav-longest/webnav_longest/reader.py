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
                yield _conversation(task, list(steps))


def _conversation(task: str, rows: list[dict[str, str]]) -> ConversationRecord:
    steps = tuple(
        StepRecord(
            f"{task}-{number}",
            row["operation"],
            row["value"],
            html=row["html"],
            positives=(CandidateRecord(row["target"], "button"),),
        )
        for number, row in enumerate(rows)
    )
    turn = TurnRecord(task, rows[0]["instruction"], steps)
    return ConversationRecord(task, "example.org", "Example", "CSV", (turn,))
