"""Compare our aggregates with a published result file."""

import pytest

from evaluation.metrics.aggregate import aggregate_faithful
from evaluation.metrics.outcomes import StepOutcome


def assert_published_result(outcomes: list[StepOutcome], result: dict | None, error: str | None) -> None:
    """The faithful aggregates equal `result`, or raise the class that `error` names and are zeros when corrected."""
    if error is not None:
        with pytest.raises(UnboundLocalError):
            aggregate_faithful(outcomes)
        assert error.startswith("UnboundLocalError")
        assert aggregate_faithful(outcomes, legacy_tail=False)["marco_step_acc"] == 0
        return
    ours = aggregate_faithful(outcomes)
    assert set(ours) - set(result) == {"error_ratio_per_conversation"}
    for name, expected in result.items():
        if name == "acc_per_website":
            assert ours[name].keys() == expected.keys()
            for website, accuracy_and_count in expected.items():
                assert ours[name][website] == pytest.approx(accuracy_and_count, abs=1e-9)
        else:
            assert ours[name] == pytest.approx(expected, abs=1e-9), name
