"""Reads result folders of the published Mind2Web loop that AWM and the WMA agent share, and scores them again
(sources.md B3.3).

A file holds what happened at each step of a task and, last, an object of the scores that were counted meanwhile.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluation.external.predictions import RecordDefect
from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.outcomes import Metric

OF_STEPS = {"element_acc": "element_accuracy", "action_f1": "operation_f1", "step_success": "step_success"}
LARGEST = 256 * 2**20  # bytes of one file


class StepMarks(NamedTuple):
    """The scores of one step, each in 0..1."""

    element_accuracy: float
    operation_f1: float
    step_success: float


@dataclass(frozen=True)
class TaskLog:
    """One task: the split it belongs to, the log of its steps, their scores, and whether all steps succeeded."""

    split: str
    name: str
    entries: Sequence[Any]
    steps: Sequence[StepMarks]
    success: float

    def rescored(self) -> "TaskLog":
        """The task as the published `calc_score` counts it: what was zero may be raised, never lowered (quirk Q24).

        Logged entries are taken in pairs (asked, compared), so an entry that stands alone, of a skipped step, puts all
        that follow out of step, and what then cannot be read is passed over. A zero element accuracy becomes whether
        the *operation* is part of the target's, a zero F1 whether the *element* is: as published, swapped.
        """
        steps = [list(marks) for marks in self.steps]
        for place in range(0, len(self.entries), 2):
            found = _seen_in(self.entries[place : place + 2])
            if found is None or place // 2 >= len(steps):
                continue
            for column, value in enumerate(found):
                steps[place // 2][column] = steps[place // 2][column] or value
        marks = [StepMarks(*step) for step in steps]
        succeeded = float(all(step.step_success for step in marks))
        return TaskLog(self.split, self.name, self.entries, marks, self.success or succeeded)


def _seen_in(pair: Sequence[Any]) -> StepMarks | None:
    """The scores that `calc_score` reads out of a reply and its target; None where it fails with an error, which it
    ignores."""
    if len(pair) < 2 or not isinstance(pair[0], dict) or not isinstance(pair[1], dict):
        return None
    output, target = pair[0].get("output"), pair[1].get("target_act")
    if not isinstance(output, str) or not isinstance(target, str) or "action:" not in output.lower():
        return None
    words = output.lower().split("action:")[1].replace("`", "").split()[:2]
    label = target.lower().split()
    if len(words) < 2 or len(label) < 2:
        return None
    operation, element = float(words[0] in label[0]), float(words[1] in label[1])
    typed = words[0] == "type" and len(label) > 2
    return StepMarks(operation, element, 0.0 if typed else operation * element)


def read_task_logs(folder: Path) -> tuple[list[TaskLog], list[RecordDefect]]:
    """Every task below `folder`, in the order of names; the first folder of its path is its split.

    A file that cannot be used is reported as a defect with its name. Raises ValueError when no file can be used.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; results lie in SPLIT/WEBSITE/…/TASK.json below it")
    logs, defects = [], []
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        try:
            logs.append(_log_of(name, path))
        except ValueError as error:
            defects.append(RecordDefect(name, "", "", str(error)))
    if not logs:
        first = f"; of the first: {defects[0]}" if defects else ""
        raise ValueError(f"{folder} holds no results of tasks{first}")
    return logs, defects


def _log_of(name: str, path: Path) -> TaskLog:
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST // 2**20} MB")
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(error.strerror or "it cannot be read") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError("it is no JSON") from error
    if not isinstance(found, list) or not found or not isinstance(found[-1], dict):
        raise ValueError("expected a list that ends with an object of scores")
    marks = {ours: _fractions(found[-1], theirs) for theirs, ours in OF_STEPS.items()}
    if len({len(values) for values in marks.values()}) > 1:
        raise ValueError("its lists of scores differ in length")
    success = _fractions(found[-1], "success")
    if len(success) != 1 or not marks["step_success"]:
        raise ValueError("expected one success, and the scores of at least one step")
    steps = [StepMarks(*values) for values in zip(*marks.values(), strict=True)]
    return TaskLog(name.partition("/")[0], name, found[:-1], steps, success[0])


def _fractions(scores: Mapping[str, Any], name: str) -> list[float]:
    values = scores.get(name)
    if not isinstance(values, list) or not all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
        raise ValueError(f"{name}: expected a list of numbers from 0 to 1")
    return [float(value) for value in values]


def metrics_of(logs: Sequence[TaskLog]) -> Iterator[Metric]:
    """Each metric twice: as a mean over all steps, which the script prints, and as a mean over tasks, which the paper
    reports.

    Intervals draw tasks. `task_success` is only a mean over tasks.
    """
    marks = [np.array(log.steps, dtype=float) for log in logs]
    sums = np.array([of_task.sum(axis=0) for of_task in marks])
    sizes = np.array([[len(of_task)] for of_task in marks], dtype=float)
    columns = list(OF_STEPS.values())
    yield from _means(columns, sums, np.repeat(sizes, len(columns), axis=1), int(sizes.sum()), "step")
    means = np.hstack([sums / sizes, np.array([[log.success] for log in logs])])
    yield from _means([*columns, "task_success"], means, np.ones_like(means), len(logs), "task")


def _means(names: list[str], sums: np.ndarray, sizes: np.ndarray, n: int, grouping: str) -> Iterator[Metric]:
    low, high = intervals(sums, sizes)
    values = sums.sum(axis=0) / sizes.sum(axis=0)
    for place, name in enumerate(names):
        yield Metric(name, float(values[place]), float(low[place]), float(high[place]), n, grouping)
