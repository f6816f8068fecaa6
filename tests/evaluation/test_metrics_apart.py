"""What intervals tell apart, and how much more data would."""

from evaluation.metrics.apart import are_apart, tied, times_as_many
from evaluation.metrics.outcomes import Metric


def estimate(value: float, half: float = 0.1) -> Metric:
    return Metric("turn_success", value, value - half, value + half, 30, "turn")


def test_intervals_that_overlap_a_little_can_be_told_apart_and_those_that_overlap_much_cannot() -> None:
    assert are_apart(estimate(0.6), estimate(0.45))  # 0.15 is more than the 0.141 of both together
    assert not are_apart(estimate(0.6), estimate(0.46))
    assert not are_apart(estimate(0.5), estimate(0.5))


def test_those_tied_with_the_best_are_named_whatever_stands_between() -> None:
    assert tied([estimate(0.6), estimate(0.55), estimate(0.2)]) == [0, 1]
    assert tied([estimate(0.6), estimate(0.2), estimate(0.19)]) == []
    assert tied([estimate(0.6), estimate(0.2), Metric("turn_success", 0.0, 0.0, 0.71, 3, "conversation")]) == [0, 2]
    assert tied([estimate(0.6), None]) == []
    assert tied([]) == []


def test_half_the_difference_takes_four_times_the_data() -> None:
    first, second = (times_as_many(estimate(0.6), estimate(0.6 - apart)) for apart in (0.1, 0.05))
    assert first is not None
    assert second is not None
    assert round(first, 6) == 2
    assert round(second / first, 6) == 4
    assert times_as_many(estimate(0.6), estimate(0.6)) is None
