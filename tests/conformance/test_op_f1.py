"""Operation F1 of both published evaluators."""

import pytest

from evaluation.metrics.operation import operation_f1
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("op_f1"))
def test_operation_f1_agrees_with_the_published_evaluators(case):
    text = case["pred"], case["label"]
    assert operation_f1(*text, strip_punctuation=False) == pytest.approx(case["f1_multichoice"], abs=1e-9)
    assert operation_f1(*text, strip_punctuation=True) == pytest.approx(case["f1_generation"], abs=1e-9)
