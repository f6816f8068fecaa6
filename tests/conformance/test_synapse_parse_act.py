"""Action texts of trajectory prompts, taken apart and put together as operation text."""

import pytest

from agents.words.trajectory_parse import parse_act
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("synapse_parse_act"))
def test_parts_agree_with_the_published_parser(case):
    with crash_of(case) as crashes:
        act = parse_act(case["act"])
    if crashes:
        return
    assert list(act) == case["parsed"]
    assert act.operation_text() == case["constructed"]
