"""The WMA agent's Mind2Web evaluation: actions read and compared, pages shown, results rescored, as published."""

import json

import pytest

from agents.types import Action
from agents.words.trajectory_parse import in_backticks, parse_act
from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import parse
from evaluation.external.task_logs import metrics_of, read_task_logs
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.trajectory import score_act
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


def cases(name: str) -> list:
    return params("wma_mind2web", "weblinx_wma", name)


@pytest.mark.parametrize("case", cases("parse_act_str"))
def test_actions_are_taken_apart_as_published(case):
    assert list(parse_act(case["s"])) == case["out"]


@pytest.mark.parametrize("case", cases("construct_act_str"))
def test_texts_that_are_compared_are_put_together_as_published(case):
    assert parse_act("")._replace(operation=case["op"], value=case["val"]).operation_text() == case["out"]
    if case["op"]:
        assert Action(case["op"], None, case["val"] or "").operation_text().strip() == case["out"].strip()


@pytest.mark.parametrize("case", cases("calculate_f1"))
def test_texts_are_compared_as_published(case):
    assert operation_f1(case["pred"], case["label"], strip_punctuation=True) == pytest.approx(case["out"], abs=1e-9)


@pytest.mark.parametrize("case", cases("extract_from_response"))
def test_the_action_of_a_reply_is_found_as_published(case):
    assert in_backticks(case["s"]) == case["out"]


@pytest.mark.parametrize("case", cases("tree_obs"))
def test_pages_are_shown_as_published(case):
    with crash_of(case) as crashes:
        pruned = prune_tree(parse(case["cleaned_html"]), case["candidate_ids"])
        text, _ = tree_repr(pruned, keep_html_brackets=True, renumber=False)
    assert crashes or text == case["obs"]


@pytest.mark.parametrize("case", cases("step_metrics"))
def test_steps_are_scored_as_published(case):
    act = in_backticks(case["response"])
    assert act == case["pred_act"] or not case["response"]
    score = score_act(act, case["target_act"], case["pos_ids"])
    assert score.element_accuracy == case["element_acc"]
    assert score.operation_f1 == pytest.approx(case["action_f1"], abs=1e-9)
    assert score.success == bool(case["step_success"])


@pytest.mark.parametrize("case", cases("calc_score"))
def test_results_are_rescored_as_the_published_script_does(case, tmp_path):
    for name, entries in case["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(entries))
    logs, defects = read_task_logs(tmp_path)
    assert defects == []
    printed = ""
    for split in dict.fromkeys(log.split for log in logs):
        found = {(m.name, m.grouping): m.value for m in metrics_of([x.rescored() for x in logs if x.split == split])}
        printed += (
            f"{split}\nElement Acc: {100 * found['element_accuracy', 'step']:.1f}\n"
            f"Action F1:   {100 * found['operation_f1', 'step']:.1f}\n"
            f"Step SR:     {100 * found['step_success', 'step']:.1f}\n"
            f"SR:          {100 * found['task_success', 'task']:.1f}\n\n"
        )
    assert printed == case["stdout"]
