"""Whole evaluations in the multichoice paradigm."""

import pytest

from agents.words.shown_page import BY_LETTER
from tests.conformance.cases import params
from tests.conformance.planner_eval import assert_published_evaluation


@pytest.mark.parametrize("case", params("planner_eval_multichoice"))
def test_evaluation_agrees_with_the_published_one(case):
    assert_published_evaluation(case, BY_LETTER)
