"""Published evaluations go in by the door that users take: an import, a study, its stored steps and its scores."""

from pathlib import Path

import pytest

from evaluation.metrics.aggregate import PUBLISHED
from evaluation.scores.scoring import RunScores
from tests.conformance.cases import first_quick
from tests.conformance.front_door import PublishedEvaluation, PublishedTask
from tests.conformance.results import assert_published_result
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db


QUICK = 3  # of each kind


@pytest.mark.slow
@first_is_quick("case", first_quick("planner_eval_multichoice", QUICK))
def test_multiple_choice(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_as_published(PublishedEvaluation(case, "multichoice", tmp_path, monkeypatch))


@pytest.mark.slow
@first_is_quick("case", first_quick("planner_eval_generation", QUICK))
def test_generation(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_as_published(PublishedEvaluation(case, "generation", tmp_path, monkeypatch))


def assert_as_published(published: PublishedEvaluation) -> None:
    """A study asks, decides, judges, scores and aggregates as the case says, and the same in batches."""
    case, run = published.case, published.run(batch_size=1)
    assert published.groups(run) == case["candidate_groups_in_order"]
    if case["predictions"] is not None:
        made = [[name, element, action.strip()] for name, element, action in published.predictions(run)]
        assert made == [[name, element, action.strip()] for name, element, action in case["predictions"]]
    judged = RunScores(run).outcomes("faithful")
    assert judged[-1].skipped == case["last_row_skipped"]
    assert_published_result(judged, case["result"], case["error"])
    if case["result"] is None:
        return
    stored = {(row.metric, row.grouping): row.value for row in run.scores.filter(preset="faithful")}
    shown = {name: stored[metric] for name, metric in PUBLISHED.items()}
    assert shown == pytest.approx({name: case["result"][name] for name in shown}, abs=1e-9)
    published.model.again = True
    batched = published.run(batch_size=32)
    assert published.predictions(batched) == published.predictions(run), "asked side by side, the same answers count"


@pytest.mark.slow
@pytest.mark.parametrize("case", first_quick("synapse_eval_sample", QUICK))
def test_trajectories(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = PublishedTask(case, tmp_path, monkeypatch)
    run = task.run()
    compared = [asked[-1:] if case["no_trajectory"] else asked[1:] for asked in task.llm.asked]
    assert [[{"role": m.role, "content": m.content} for m in messages] for messages in compared] == case["messages"]
    judged, metrics = RunScores(run).outcomes("faithful"), case["metrics"]
    assert [step.element_correct for step in judged] == metrics["element_acc"]
    assert [step.operation_f1 for step in judged] == pytest.approx(metrics["action_f1"], abs=1e-9)
    assert [step.success for step in judged] == metrics["step_success"]
    success = run.scores.get(preset="faithful", metric="turn_success", grouping="conversation")
    assert [success.value] == metrics["success"]
