"""Published and corrected means; the worked examples are planners spec 6.5."""

import pytest

from evaluation.metrics.aggregate import aggregate_corrected, aggregate_faithful
from evaluation.metrics.outcomes import StepOutcome

KINDS = {"ok": (1.0, 1.0), "wval": (1.0, 2 / 3), "wel": (0.0, 1.0), "none": (0.0, 0.0), "skip": (0.0, 0.0)}


def outcomes(text: str) -> list[StepOutcome]:
    """Steps written as in the spec: "A/A1:ok A/A2:skip" (conversation / turn : kind)."""
    steps = []
    for position, item in enumerate(text.split()):
        place, kind = item.split(":")
        conversation, turn = place.split("/")
        element, f1 = KINDS[kind]
        steps.append(
            StepOutcome(
                conversation, turn, "site", element, f1, kind == "ok", skipped=kind == "skip", position=position
            )
        )
    return steps


W1 = "A/A1:ok A/A1:wval A/A2:ok B/B1:ok B/B1:ok B/B1:wel"
W2 = "A/A1:ok A/A1:ok A/A2:skip"
W2B = "A/A2:skip A/A1:ok A/A1:ok"
W3 = "A/A1:none A/A1:ok"
W5 = "A/A1:none A/A1:none A/A2:wel A/A2:wel B/B1:ok"
WORKED = [  # element_acc, action_f1, step_acc, four marco values (element, f1, step, turn), error_ratio
    (W1, (0.8333, 0.9444, 0.6667), (0.8889, 0.9444, 0.6667, 0.25), {"1": 0.6667}),
    (W2, (0.6667, 0.6667, 0.6667), (1, 1, 1, 1), {"0": 1.0}),
    (W2B, (0.6667, 0.6667, 0.6667), (0.5, 0.5, 0.6667, 0.5), {"1": 0.5}),
    (W3, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0), {"1": 1.0}),
    (W5, (0.2, 0.6, 0.2), (0.3333, 0.6667, 0.5, 0.5), {">3": 0.3333, "0": 0.3333}),
]


@pytest.mark.parametrize(("text", "micro", "marco", "error_ratio"), WORKED, ids=["W1", "W2", "W2b", "W3", "W5"])
def test_faithful_agrees_with_the_worked_examples(text, micro, marco, error_ratio):
    result = aggregate_faithful(outcomes(text))
    assert (result["element_acc"], result["action_f1"], result["step_acc"]) == pytest.approx(micro, abs=1e-4)
    names = ("marco_element_acc", "marco_action_f1", "marco_step_acc", "marco_turn_acc")
    assert tuple(result[name] for name in names) == pytest.approx(marco, abs=1e-4)
    assert result["error_ratio"] == pytest.approx(error_ratio, abs=1e-4)


def test_only_skipped_steps_crash_as_published():
    with pytest.raises(UnboundLocalError):
        aggregate_faithful(outcomes("A/A1:skip B/B1:skip"))


def test_only_skipped_steps_are_zeros_without_the_legacy_tail():
    result = aggregate_faithful(outcomes("A/A1:skip B/B1:skip"), legacy_tail=False)
    assert result["marco_step_acc"] == 0
    assert result["acc_per_website"] == {"site": [0.0, 2]}


def test_the_skipped_tail_counts_without_the_legacy_tail():
    result = aggregate_faithful(outcomes(W2), legacy_tail=False)
    assert result["marco_element_acc"] == pytest.approx(0.5)
    assert result["marco_turn_acc"] == pytest.approx(0.5)
    assert result["error_ratio"] == {"1": 0.5}


def test_the_tail_is_found_by_position_not_by_the_order_of_rows():
    assert aggregate_faithful(outcomes(W2)[::-1]) == aggregate_faithful(outcomes(W2))


def test_published_error_ratio_is_per_turn_and_ours_beside_it_sums_to_one():
    result = aggregate_faithful(outcomes(W5))
    assert sum(result["error_ratio"].values()) == pytest.approx(2 / 3)
    assert result["error_ratio_per_conversation"] == {">3": 0.5, "0": 0.5}


def test_corrected_counts_all_steps_in_every_grouping():
    result = aggregate_corrected(outcomes("A/A1:ok A/A1:wel A/A2:ok B/B1:skip"))
    assert result["element_accuracy"] == pytest.approx({"conversation": (2 / 3 + 0) / 2, "turn": 0.5, "step": 0.5})
    assert result["operation_f1"] == pytest.approx({"conversation": 0.5, "turn": 2 / 3, "step": 0.75})
    assert result["step_success"] == pytest.approx({"conversation": 1 / 3, "turn": 0.5, "step": 0.5})
    assert result["turn_success"] == pytest.approx({"conversation": 0.25, "turn": 1 / 3})
    assert result["conversation_success"] == {"conversation": 0}


def test_conversation_success_on_single_turn_data_is_the_task_success_rate():
    result = aggregate_corrected(outcomes("A/A:ok A/A:ok B/B:ok B/B:none"))
    assert result["conversation_success"]["conversation"] == 0.5


def test_pruned_gold_counts_as_a_miss_in_recall_and_mrr():
    steps = [
        StepOutcome("A", "A1", "site", 1.0, 1.0, True, gold_rank=0),
        StepOutcome("A", "A1", "site", 1.0, 1.0, True, gold_rank=7),
        StepOutcome("B", "B1", "site", 0.0, 0.0, False, skipped=True, gold_rank=None),
    ]
    result = aggregate_corrected(steps)
    assert result["recall@5"] == pytest.approx({"conversation": 0.25, "turn": 0.25, "step": 1 / 3})
    assert result["recall@100"]["step"] == pytest.approx(2 / 3)
    assert result["mrr"]["step"] == pytest.approx((1 + 1 / 8) / 3)


def test_turns_with_the_same_name_in_two_conversations_are_two_turns():
    result = aggregate_corrected(outcomes("A/1:ok B/1:none"))
    assert result["turn_success"]["turn"] == 0.5


def test_no_steps_give_zeros():
    assert {value for groups in aggregate_corrected([]).values() for value in groups.values()} == {0.0}
    assert aggregate_faithful([], legacy_tail=False)["element_acc"] == 0.0
    with pytest.raises(UnboundLocalError):
        aggregate_faithful([])


@pytest.mark.parametrize(
    "facts",
    [
        {"element_correct": float("nan")},
        {"operation_f1": 1.5},
        {"gold_rank": -1},
        {"skipped": True, "operation_f1": 0.5},
    ],
)
def test_contradicting_facts_are_refused(facts):
    fields = {"element_correct": 0.0, "operation_f1": 0.0, "success": False} | facts
    with pytest.raises(ValueError, match=r"must be|0-based"):
        StepOutcome("A", "A1", "site", **fields)
