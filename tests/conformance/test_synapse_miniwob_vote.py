"""Which exemplar the nearest neighbours choose."""

import pytest

from agents.planner.miniwob_prompts import vote
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("synapse_miniwob_vote"))
def test_chosen_exemplar_agrees_with_the_published_code(case):
    assert vote(case["neighbours_nearest_first"], case["k"]) == case["chosen"]
