"""Named values with intervals, slices, and the properties that hold for any judged steps."""

import math
import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import METRICS
from evaluation.metrics.aggregate import aggregate_corrected, aggregate_faithful
from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.outcomes import StepOutcome
from evaluation.metrics.scores import headlines, score, slices


def make_outcome(conversation="c", turn="t", success=True, **fields) -> StepOutcome:
    judged = {"element_correct": float(success), "operation_f1": float(success), "website": "site"}
    return StepOutcome(conversation=conversation, turn=turn, success=success, **judged | fields)


@st.composite
def judged_steps(draw) -> list[StepOutcome]:
    facts = st.tuples(
        st.integers(0, 4),
        st.integers(0, 2),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.booleans(),
    )
    steps = []
    for position, (conversation, turn, element, f1, skipped) in enumerate(
        draw(st.lists(facts, min_size=1, max_size=25))
    ):
        facts_of_step = (0.0, 0.0, False) if skipped else (element, f1, element == f1 == 1)
        rank = draw(st.none() | st.integers(0, 120))
        steps.append(
            StepOutcome(
                f"c{conversation}", f"t{turn}", f"site{conversation % 2}", *facts_of_step, skipped, rank, position
            )
        )
    return steps


@pytest.mark.slow
@given(judged_steps())
def test_corrected_means_over_steps_are_plain_means(steps):
    result = aggregate_corrected(steps)
    assert result["element_accuracy"]["step"] == pytest.approx(np.mean([step.element_correct for step in steps]))
    assert result["operation_f1"]["step"] == pytest.approx(np.mean([step.operation_f1 for step in steps]))
    assert result["step_success"]["step"] == pytest.approx(np.mean([step.success for step in steps]))


@pytest.mark.slow
@given(judged_steps(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_neither_values_nor_intervals(steps, order: random.Random):
    shuffled = list(steps)
    order.shuffle(shuffled)
    for preset in ("faithful", "corrected"):
        assert score(shuffled, preset, resamples=20) == score(steps, preset, resamples=20)


@pytest.mark.slow
@given(judged_steps())
def test_no_value_is_ever_nan_and_all_lie_between_zero_and_one(steps):
    for preset in ("faithful", "corrected"):
        for metric in score(steps, preset, resamples=20):
            assert 0 <= metric.low <= metric.high <= 1 + 1e-12, metric
            assert 0 <= metric.value <= 1 + 1e-12, metric
            assert not math.isnan(metric.value + metric.low + metric.high)


@pytest.mark.slow
@given(judged_steps())
def test_without_a_skipped_tail_faithful_and_corrected_agree_where_they_group_alike(steps):
    faithful = aggregate_faithful(steps, legacy_tail=False)
    corrected = aggregate_corrected(steps)
    assert faithful["marco_element_acc"] == pytest.approx(corrected["element_accuracy"]["turn"])
    assert faithful["marco_step_acc"] == pytest.approx(corrected["step_success"]["conversation"])
    assert faithful["marco_turn_acc"] == pytest.approx(corrected["turn_success"]["conversation"])


def test_one_conversation_says_nothing_about_others():
    alone = [make_outcome("c", f"t{turn}", success=turn == 0) for turn in range(3)]
    for preset in ("faithful", "corrected"):
        assert {(metric.low, metric.high) for metric in score(alone, preset, resamples=10)} == {(0.0, 1.0)}


@pytest.mark.slow
@given(st.lists(st.integers(1, 4), min_size=2, max_size=20), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_interval_of_constant_data_is_what_so_many_say_of_others(steps_per_conversation, f1):
    steps = [
        make_outcome(f"c{number}", f"t{index}", success=False, operation_f1=f1)
        for number, count in enumerate(steps_per_conversation)
        for index in range(count)
    ]
    for metric in score(steps, "corrected", resamples=50):
        if metric.name == "operation_f1":
            unlike = 1 - 0.025 ** (1 / len(steps_per_conversation))
            bounds = (f1 - f1 * unlike, f1, f1 + (1 - f1) * unlike)
            assert (metric.low, metric.value, metric.high) == pytest.approx(bounds)


def test_the_faithful_preset_names_the_published_groupings():
    shown = headlines(score([make_outcome()], "faithful", resamples=10))
    assert shown["element_accuracy"].grouping == "turn"
    assert shown["operation_f1"].grouping == "turn"
    assert shown["step_success"].grouping == "conversation"
    assert shown["turn_success"].grouping == "conversation"
    assert shown["recall@50"].grouping == "step"


def test_every_headline_of_the_corrected_preset_is_a_mean_over_conversations():
    shown = headlines(score([make_outcome()], "corrected", resamples=10))
    assert {metric.grouping for metric in shown.values()} == {"conversation"}
    assert {"element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success", "mrr"} < set(
        shown
    )


def test_faithful_values_are_the_published_ones():
    steps = [
        make_outcome("A", "A1", position=0),
        make_outcome("A", "A2", success=False, operation_f1=1.0, position=1),
        make_outcome("B", "B1", position=2),
        make_outcome("C", "C1", success=False, skipped=True, position=3),
    ]
    published = aggregate_faithful(steps)
    shown = headlines(score(steps, "faithful", resamples=10))
    assert shown["element_accuracy"].value == published["marco_element_acc"] == pytest.approx(2 / 3)
    assert shown["step_success"].value == published["marco_step_acc"] == 0.75
    assert shown["step_success"].n == 2
    by_step = [metric for metric in score(steps, "faithful", resamples=10) if metric.grouping == "step"]
    assert by_step[0].value == published["element_acc"] == 0.5


def test_the_faithful_mrr_is_cut_at_fifty_and_the_corrected_one_is_not():
    steps = [make_outcome(gold_rank=59)]
    assert headlines(score(steps, "faithful", resamples=10))["mrr"].value == 0
    assert headlines(score(steps, "corrected", resamples=10))["mrr"].value == pytest.approx(1 / 60)


def test_the_result_says_how_many_units_each_value_is_a_mean_over():
    steps = [make_outcome("A", "A1"), make_outcome("A", "A1"), make_outcome("A", "A2"), make_outcome("B", "B1")]
    counts = {metric.grouping: metric.n for metric in score(steps, "corrected", resamples=10)}
    assert counts == {"conversation": 2, "turn": 3, "step": 4}


@pytest.mark.parametrize("preset", ["faithful", "corrected"])
def test_no_steps_give_zeros_with_n_zero(preset):
    metrics = score([], preset)
    assert {(metric.value, metric.low, metric.high, metric.n) for metric in metrics} == {(0.0, 0.0, 0.0, 0)}


def test_only_skipped_steps_are_zeros_in_both_presets():
    steps = [make_outcome(success=False, skipped=True)]
    assert {metric.value for metric in score(steps, "faithful")} == {0.0}
    assert headlines(score(steps, "faithful"))["step_success"].n == 0
    assert headlines(score(steps, "corrected"))["step_success"].n == 1


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="'published'"):
        score([], "published")


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    steps = [make_outcome(f"c{number}", operation_f1=number / 40, success=False) for number in range(40)]
    first, again, other = (headlines(score(steps, "corrected", seed))["operation_f1"] for seed in (1, 1, 2))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_the_interval_agrees_with_a_bootstrap_written_as_a_loop():
    generator = np.random.default_rng(5)
    sizes = generator.integers(1, 6, 60)
    hits = generator.binomial(sizes, 0.4)
    low, high = intervals(hits[:, None].astype(float), sizes[:, None].astype(float), seed=0, resamples=4000)
    means = []
    for _ in range(4000):
        drawn = generator.integers(0, 60, 60)
        means.append(hits[drawn].sum() / sizes[drawn].sum())
    assert (low[0], high[0]) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])), abs=0.01)


@pytest.mark.parametrize(("count", "unlike"), [(1, 1.0), (2, 0.842), (3, 0.708), (34, 0.103)])
def test_conversations_that_are_alike_say_how_many_may_differ_and_not_that_none_does(count, unlike):
    sizes = np.arange(1.0, count + 1)[:, None]  # they have different numbers of steps

    def of(value, **scale):
        return intervals(value * sizes, sizes, **scale)[:, 0]

    assert of(0.0) == pytest.approx((0, unlike), abs=0.001)
    assert of(1.0) == pytest.approx((1 - unlike, 1), abs=0.001)
    assert of(0.5) == pytest.approx((0.5 - unlike / 2, 0.5 + unlike / 2), abs=0.001)
    assert of(0.0, least=-1.0) == pytest.approx((-unlike, unlike), abs=0.001)
    assert of(7.0, most=float("nan")) == pytest.approx((7 - 7 * unlike, 7), abs=0.01), "nobody knows how far it goes"


def test_a_conversation_that_counts_for_nothing_is_refused():
    with pytest.raises(ValueError, match="denominators"):
        intervals(np.zeros((2, 1)), np.array([[1.0], [0.0]]))


@pytest.mark.timed
@pytest.mark.slow
def test_ten_thousand_conversations_take_well_under_a_second():
    generator = np.random.default_rng(0)
    numerators, denominators = generator.random((10_000, 12)), np.ones((10_000, 12))
    start = time.perf_counter()
    intervals(numerators, denominators, resamples=1000)
    assert time.perf_counter() - start < 3  # about 0.3 s alone on one slow core; the margin is for busy machines


def test_slices_measure_each_part_alone():
    steps = [make_outcome("A", website="shop"), make_outcome("B", website="clinic", success=False)]
    parts = slices(steps, by="website", resamples=10)
    assert {name: headlines(metrics)["step_success"].value for name, metrics in parts.items()} == {
        "clinic": 0,
        "shop": 1,
    }


def test_slices_leave_out_metrics_of_units_they_cut_through():
    steps = [
        make_outcome(turn="1", turn_index=0, operation="CLICK"),
        make_outcome(turn="2", turn_index=1, operation="TYPE"),
    ]
    per_operation = headlines(slices(steps, by="operation", resamples=10)["CLICK"])
    per_turn = headlines(slices(steps, by="turn_index", resamples=10)["0"])
    assert {METRICS[name].unit for name in per_operation} == {"step"}
    assert "turn_success" in per_turn
    assert "conversation_success" not in per_turn


def test_slices_by_something_unknown_name_the_choices():
    with pytest.raises(ValueError, match="website, domain, turn_index, operation"):
        slices([], by="colour")
