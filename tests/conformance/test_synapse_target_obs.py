"""Synapse's observation of chosen elements: pruned page with brackets and raw ids."""

import pytest

from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("synapse_target_obs"))
def test_observation_agrees_with_the_published_code(case):
    with crash_of(case) as crashes:
        pruned = prune_tree(parse(case["html"]), case["ids"])
        text, _ = tree_repr(pruned, keep_html_brackets=True, renumber=False)
    assert crashes or text == case["obs"]
