"""Reads files of predictions that were made elsewhere; defects name file, record and field."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

OTHER_FILES = {
    "_outputs_": "it holds the model's raw replies; score takes the predictions beside it, {split}_predictions_top{k}",
    "_results_": "it holds means; score takes the predictions beside it, {split}_predictions_top{k}.json",
}


@dataclass(frozen=True)
class RecordDefect:
    """What is wrong with a record of a file; `field` is "" where it is the record as a whole."""

    file: str
    record: str
    field: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.record, self.field, self.message) if part)


class ActionPrediction(NamedTuple):
    """What was predicted for a step: an element and the text "OP value". Element None and text "" say that nothing was
    chosen."""

    element: str | None
    text: str


ReplayPlace = tuple[str, int]  # name of a demonstration, number of a turn in its replay


def read_actions(path: Path) -> tuple[dict[str, ActionPrediction], list[RecordDefect]]:
    """Mind2Web's prediction files (sources.md M6.3): sample id "{annotation}_{action_uid}" -> prediction.

    The file is a list of [sample id, element id, "OP value"]; null and "" stand for no element. The first prediction
    of a sample counts. Raises ValueError when it is another file of that run or no list.
    """
    for part, message in OTHER_FILES.items():
        if part in path.name:
            raise ValueError(f"{path.name} is not a file of predictions: {message}")
    rows = _json(path)
    if not isinstance(rows, list):
        raise ValueError(f"{path.name}: expected a list of [sample id, element id, action], found {_kind(rows)}")
    found: dict[str, ActionPrediction] = {}
    defects = []
    for number, row in enumerate(rows, 1):
        field, message = _action_defect(row, found)
        if message:
            defects.append(RecordDefect(path.name, f"record {number}", field, message))
        else:
            element = "" if row[1] is None else str(row[1])
            found[row[0]] = ActionPrediction(element or None, row[2] or "")
    return found, defects


def _action_defect(row: Any, seen: Mapping[str, Any]) -> tuple[str, str]:
    if not isinstance(row, list) or len(row) != 3:
        found = f"a list of {len(row)}" if isinstance(row, list) else _kind(row)
        return "", f"expected [sample id, element id, action], found {found}"
    sample, element, text = row
    if not isinstance(sample, str) or not sample:
        return "sample id", f"expected text, found {_kind(sample)}"
    if sample in seen:
        return "sample id", f"{sample!r} was predicted before; the first prediction counts"
    if isinstance(element, bool) or not isinstance(element, str | int | None):
        return "element id", f"expected text, a number or null, found {_kind(element)}"
    if not isinstance(text, str | None):
        return "action", f'expected text such as "CLICK", found {_kind(text)}'
    return "", ""


def read_replies(path: Path) -> tuple[dict[ReplayPlace, str], list[RecordDefect]]:
    """WebLINX's predictions (sources.md A7): (demo_name, turn_index) -> output_predicted.

    The file is a list of objects, or one object per line. The first prediction of a turn counts.
    """
    found: dict[ReplayPlace, str] = {}
    defects = []
    for record, row in _objects(path):
        field, message = _reply_defect(row, found)
        if message:
            defects.append(RecordDefect(path.name, record, field, message))
        else:
            found[row["demo_name"], row["turn_index"]] = row["output_predicted"]
    return found, defects


def _reply_defect(row: Any, seen: Mapping[ReplayPlace, str]) -> tuple[str, str]:
    if isinstance(row, ValueError):
        return "", str(row)
    if not isinstance(row, dict):
        return "", f"expected an object, found {_kind(row)}"
    for field, kind, wanted in (
        ("demo_name", str, "text"),
        ("turn_index", int, "a whole number"),
        ("output_predicted", str, "text"),
    ):
        value = row.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            return field, f"expected {wanted}, found {_kind(value) if field in row else 'no such field'}"
    if (row["demo_name"], row["turn_index"]) in seen:
        return "turn_index", "this turn was predicted before; the first prediction counts"
    return "", ""


def _objects(path: Path) -> Iterator[tuple[str, Any]]:
    """(name of the record, its value, or the ValueError that reading it gave)."""
    text = _text(path)
    if text.lstrip().startswith("["):
        yield from ((f"record {number}", row) for number, row in enumerate(_json(path), 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                yield f"line {number}", ValueError(f"not JSON: {error}")


def _json(path: Path) -> Any:
    text = _text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name}: not JSON: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: not UTF-8: {error}") from error


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
