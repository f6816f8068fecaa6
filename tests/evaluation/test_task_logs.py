"""Result folders of the published Mind2Web loop: what cannot be read is said, and rescoring only raises."""

import io
import json
import random

import pytest
from django.core.management import CommandError, call_command

from evaluation.external.task_logs import StepMarks, TaskLog, read_task_logs


def asked(output: str, target: str) -> list[dict]:
    return [{"input": [], "output": output, "token_stats": {}}, {"pred_act": "", "target_act": target}]


def scores(*marks: tuple[float, float, int], success: int = 0) -> dict:
    element, f1, step = zip(*marks, strict=True)
    return {"element_acc": element, "action_f1": f1, "step_success": step, "success": [success]}


def write(folder, name: str, content) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_rescoring_swaps_element_and_operation_and_never_lowers_a_score():
    log = TaskLog("test_task", "x", asked("Action: CLICK [9]", "CLICK [12]"), [StepMarks(0, 0, 0)], 0)
    assert log.rescored().steps == [(1, 0, 0)]  # the operation was right, and counts as the element
    rng = random.Random(0)
    for _ in range(200):
        entries = [entry for _ in range(3) for entry in asked(rng.choice(WORDS), rng.choice(TARGETS))]
        del entries[rng.randrange(6) :]
        steps = [StepMarks(rng.choice((0, 1)), rng.choice((0, 0.5)), rng.choice((0, 1))) for _ in range(3)]
        for before, after in zip(steps, TaskLog("s", "n", entries, steps, 0).rescored().steps, strict=True):
            assert all(new >= old for new, old in zip(after, before, strict=True))


WORDS = ["Action: `CLICK [12]`", "action: type [5] [x]", "none", "Action:", "", "Action: a"]
TARGETS = ["CLICK [12]", "TYPE [5] [x y]", "", "SELECT"]


def test_what_cannot_be_read_is_named_and_the_rest_counts(tmp_path):
    write(tmp_path, "test_task/a/0.json", [*asked("`CLICK [1]`", "CLICK [1]"), scores((1, 1, 1), success=1)])
    write(tmp_path, "test_task/a/1.json", "[" * 100_000)
    write(tmp_path, "test_task/a/2.json", "[]")
    write(tmp_path, "test_task/a/3.json", [{"element_acc": [1], "action_f1": [], "step_success": [1], "success": [1]}])
    write(tmp_path, "test_task/a/4.json", [scores((2, 0, 0))])
    write(tmp_path, "test_task/a/5.json", [{"element_acc": [True]}])
    logs, defects = read_task_logs(tmp_path)
    assert [log.name for log in logs] == ["test_task/a/0.json"]
    assert [str(defect).partition(": ")[2] for defect in defects] == [
        "it is no JSON",
        "expected a list that ends with an object of scores",
        "its lists of scores differ in length",
        "element_acc: expected a list of numbers from 0 to 1",
        "action_f1: expected a list of numbers from 0 to 1",
    ]


def test_the_command_shows_both_ways_of_counting(tmp_path):
    write(tmp_path, "test_task/a/0.json", [*asked("Action: CLICK [9]", "CLICK [1]"), scores((0, 0, 0))])
    write(tmp_path, "test_task/a/1.json", [*asked("`CLICK [1]`", "CLICK [1]") * 3, scores(*[(1, 1, 1)] * 3, success=1)])
    out = io.StringIO()
    call_command("score_task_logs", str(tmp_path), "--json", stdout=out)
    (split,) = json.loads(out.getvalue())["splits"].values()
    values = [[round(metric["value"], 2) for metric in split[name]] for name in ("logged", "rescored")]
    assert values == [[0.75, 0.75, 0.75, 0.5, 0.5, 0.5, 0.5], [1.0, 0.75, 0.75, 1.0, 0.5, 0.5, 0.5]]
    out = io.StringIO()
    call_command("score_task_logs", str(tmp_path), stdout=out)
    assert "test_task · 2 tasks · 4 steps" in out.getvalue()
    with pytest.raises(CommandError, match="no folder"):
        call_command("score_task_logs", str(tmp_path / "none"))
