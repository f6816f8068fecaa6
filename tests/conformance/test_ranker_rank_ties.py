"""Ranks of scored candidates, ties in insertion order."""

import pytest

from evaluation.metrics.ranking import ranks
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("ranker_rank_ties"))
def test_ranks_agree_with_the_published_tie_rule(case):
    with crash_of(case) as crashes:
        ranked = ranks(dict(case["scores"]))
    assert crashes or ranked == case["ranks"]
