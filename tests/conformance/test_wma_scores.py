"""Scores, next states, labels and the most frequent samples against the published code's output."""

import pytest

from agents.stages.imagine import scores
from tests.conformance.cases import params


def cases(name: str) -> list:
    return params("wma_scores", "weblinx_wma", name)


def read(name: str, case: dict) -> None:
    mean, each = case["mean_and_individual"]
    found = getattr(scores, name)(case["responses"])
    assert found.mean == pytest.approx(mean, abs=1e-9)
    assert list(found.each) == pytest.approx(each, abs=1e-9)


@pytest.mark.parametrize("case", cases("likert"))
def test_prompted_scores_are_read_as_published(case):
    read("likert", case)


@pytest.mark.parametrize("case", cases("value_model_webarena"))
def test_scores_of_the_webarena_agent_are_read_as_published(case):
    read("value_model_webarena", case)


@pytest.mark.parametrize("case", cases("value_model_mind2web"))
def test_scores_of_the_mind2web_agent_are_read_as_published(case):
    read("value_model_mind2web", case)


@pytest.mark.parametrize("case", cases("extract_state"))
def test_answers_of_world_models_are_parted_as_published(case):
    assert list(scores.next_state(case["response"])) == case["out"]


@pytest.mark.parametrize("case", cases("value_score_labels"))
def test_value_functions_are_taught_the_published_labels(case):
    tasks = [(item["confirmed_task"], int(item["target_action_index"])) for item in case["items"]]
    assert scores.progress_labels(tasks) == case["value_scores"]


@pytest.mark.parametrize("case", cases("top_actions"))
def test_the_most_frequent_actions_are_the_published_ones(case):
    found = scores.frequent(case["parsed_samples"], case["k"])
    assert list(found.choices) == case["top"]
    assert found.shares == pytest.approx(case["prob"], abs=1e-9)
