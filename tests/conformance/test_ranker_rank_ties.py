"""Ranks of scored candidates, ties in insertion order."""

import pytest

from evaluation.metrics.ranking import ranks
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("ranker_rank_ties"))
def test_ranks_agree_with_the_published_tie_rule(case):
    assert ranks(dict(case["scores"])) == case["ranks"]
