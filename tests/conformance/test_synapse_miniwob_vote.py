"""Which exemplar the nearest neighbours choose."""

import pytest

from agents.stages.compose.miniwob_prompts import vote
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("synapse_miniwob_vote"))
def test_chosen_exemplar_agrees_with_the_published_code(case):
    with crash_of(case) as crashes:
        chosen = vote(case["neighbours_nearest_first"], case["k"])
    assert crashes or chosen == case["chosen"]
