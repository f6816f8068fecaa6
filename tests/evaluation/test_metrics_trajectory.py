"""Scores of action texts, as published and corrected."""

from agents.recipes import literature
from agents.stages.registry import judging_of
from agents.words.trajectory import CORRECTED, FAITHFUL
from evaluation.metrics.trajectory import score_act

BACKENDS = {"endpoint": False, "local": True}  # whether its steps are judged by the parts of an action


def test_q19_the_first_positive_alone_counts_unless_corrected():
    assert score_act("CLICK [7]", "CLICK [5]", ["5", "7"], FAITHFUL) == (0.0, 1.0, False)
    assert score_act("CLICK [7]", "CLICK [5]", ["5", "7"], CORRECTED) == (1.0, 1.0, True)


def test_q20_any_other_writing_of_the_right_action_fails_unless_corrected():
    act = "TYPE [5] [new york] now"
    assert score_act(act, "TYPE [5] [new york]", ["5"], FAITHFUL) == (1.0, 1.0, False)
    assert score_act(act, "TYPE [5] [new york]", ["5"], CORRECTED) == (1.0, 1.0, True)


def test_q20_models_of_one_s_own_are_judged_by_what_was_read():
    """The published code for CodeLlama compares operation, element and value, the one for endpoints the whole text."""
    act, gold = "TYPE [5] [new york] now", "TYPE [5] [new york]"
    assert score_act(act, gold, ["5"], FAITHFUL, by_parts=True) == (1.0, 1.0, True)
    assert not score_act("CLICK [5] [x]", "CLICK [5]", ["5"], FAITHFUL, by_parts=True).success
    kinds = {backend: literature.override(literature.get("bare"), {"plan.backend": backend}) for backend in BACKENDS}
    assert {backend: judging_of(recipe).by_parts for backend, recipe in kinds.items()} == BACKENDS


def test_corrected_success_needs_the_value_in_order_where_f1_does_not():
    assert score_act("TYPE [5] [york new]", "TYPE [5] [new york]", ["5"], CORRECTED) == (1.0, 1.0, False)


def test_an_empty_reply_scores_nothing_in_either_preset():
    for quirks in (FAITHFUL, CORRECTED):
        assert score_act("", "TYPE [5] [new york]", ["5"], quirks) == (0.0, 0.0, False)
