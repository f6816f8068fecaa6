"""One judged step or group: operation F1, element accuracy, step and turn success."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.step import step_success
from evaluation.metrics.turn import all_succeeded

WORKED = [  # planners spec 6.5: predicted, gold, multiple choice, generation
    ("TYPE new york", "TYPE new york city", 0.857142857, 0.857142857),
    ("CLICK foo", "CLICK ", 0.6667, 0.6667),
    ("TYPE a a b", "TYPE a b", 1, 1),
    ("SELECT - 5", "SELECT 5", 0.8, 1.0),
    ("TYPE ... x", "TYPE x", 0.8, 0.8),
    ("TYPE New", "TYPE new", 0.5, 0.5),
    ("", "", 1, 1),
    (" ", "CLICK", 0, 0),
]
TEXTS = st.lists(st.sampled_from(["CLICK", "TYPE", "new", "york", "-", "()", "...", "a"]), max_size=6).map(" ".join)


@pytest.mark.parametrize(("predicted", "gold", "multichoice", "generation"), WORKED)
def test_operation_f1_agrees_with_the_worked_examples(predicted, gold, multichoice, generation):
    assert operation_f1(predicted, gold, strip_punctuation=False) == pytest.approx(multichoice, abs=1e-4)
    assert operation_f1(predicted, gold, strip_punctuation=True) == pytest.approx(generation, abs=1e-4)


@given(TEXTS, TEXTS, st.booleans())
def test_operation_f1_is_symmetric_and_one_only_for_equal_token_sets(first, second, strip):
    value = operation_f1(first, second, strip)
    assert value == operation_f1(second, first, strip)
    assert 0 <= value <= 1
    if not strip:
        assert (value == 1) == (set(first.split()) == set(second.split()))


def test_only_whole_runs_of_the_punctuation_list_are_stripped():
    assert operation_f1("TYPE ()", "TYPE", strip_punctuation=True) == 1
    assert operation_f1("TYPE )(", "TYPE", strip_punctuation=True) == pytest.approx(2 / 3)


def test_element_accuracy_accepts_any_positive_and_nothing_else():
    assert element_accuracy("7", ["3", "7"]) == 1
    assert element_accuracy("8", ["3", "7"]) == 0
    assert element_accuracy(None, ["3"]) == 0
    assert element_accuracy("3", []) == 0


def test_a_step_succeeds_only_when_element_and_operation_are_both_right():
    assert step_success(1, 1)
    assert not step_success(0, 1)
    assert not step_success(1, 0.99)


def test_a_group_succeeds_when_no_step_failed_and_never_when_it_is_empty():
    assert all_succeeded([True, True])
    assert not all_succeeded([True, False])
    assert not all_succeeded([])
