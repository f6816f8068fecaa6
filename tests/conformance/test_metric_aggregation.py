"""Aggregation alone: judged steps of five kinds -> the published result file."""

import pytest

from evaluation.metrics.outcomes import StepOutcome
from tests.conformance.cases import params
from tests.conformance.results import assert_published_result

FACTS = {"ok": (1.0, 1.0), "wrong_el": (0.0, 1.0), "wrong_val": (1.0, 2 / 3), "none": (0.0, 0.0), "skip": (0.0, 0.0)}


@pytest.mark.parametrize("case", params("metric_aggregation"))
def test_aggregates_agree_with_the_published_result_file(case):
    outcomes = [
        StepOutcome(
            conversation, turn, website, *FACTS[kind], success=kind == "ok", skipped=kind == "skip", position=position
        )
        for position, (conversation, turn, website, kind) in enumerate(case["steps"])
    ]
    assert_published_result(outcomes, case["result"], case["error"])
