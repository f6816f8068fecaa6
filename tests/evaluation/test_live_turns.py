"""What the turns of live conversations come to."""

import pytest

from evaluation.metrics.live_turns import LiveTurn, measure_turns


def test_ratios_are_of_what_counts_in_them() -> None:
    turns = [
        LiveTurn("a", True, 4, 2, 1, 0, asked=1, needed=True, told_after=3),
        LiveTurn("a", False, 9, 3, 1, 2, needed=True),
        LiveTurn("b", True, 2, 2, 0, 0, asked=2),
        LiveTurn("b", True, 2, 2, 0, 0),
    ]
    found = {metric.name: metric for metric in measure_turns(turns)}
    values = {name: metric.value for name, metric in found.items()}
    assert values == pytest.approx(
        {
            "live_turn_success": 3 / 4,
            "recovery": 1 / 2,
            "path_ratio": 8 / 6,
            "side_effects": 2 / 4,
            "ask_f1": 2 / 4,
            "told_success": 1.0,
            "untold_success": 0.0,
            "told_after": 3.0,
        }
    )
    assert all(metric.low <= metric.value <= metric.high for metric in found.values())
    assert found["recovery"].n == 1


def test_what_nothing_counts_in_is_left_out() -> None:
    assert [metric.name for metric in measure_turns([LiveTurn("a", False, 1, 1, 0, 0)])] == [
        "live_turn_success",
        "side_effects",
    ]
    assert measure_turns([]) == []
