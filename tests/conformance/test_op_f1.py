"""Operation F1 of both published evaluators."""

import pytest

from evaluation.metrics.operation import operation_f1
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("op_f1"))
def test_operation_f1_agrees_with_the_published_evaluators(case):
    with crash_of(case) as crashes:
        with_punctuation, without = (
            operation_f1(case["pred"], case["label"], strip_punctuation=strip) for strip in (False, True)
        )
    if crashes:
        return
    assert with_punctuation == pytest.approx(case["f1_multichoice"], abs=1e-9)
    assert without == pytest.approx(case["f1_generation"], abs=1e-9)
