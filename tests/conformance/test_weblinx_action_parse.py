"""Replies of action models as the published parser reads them."""

import pytest

from agents.weblinx.parse import cast_coordinates, parse_action
from agents.weblinx.quirks import CRASHING
from tests.conformance.crashes import crash_of
from tests.conformance.weblinx import params


@pytest.mark.parametrize("case", params("weblinx_action_parse", "cases"))
def test_replies_are_read_as_published(case):
    with crash_of(case) as crashes:
        parse_action(case["raw"], CRASHING)
    parsed = parse_action(case["raw"])
    if crashes:
        assert parsed.handled  # read all the same, and counted
        return
    assert (parsed.raw_intent, parsed.raw_args) == (case["raw_intent"], case["raw_args"])
    assert (parsed.intent, parsed.args) == (case["intent"], case["args"])
    assert {key: type(value) for key, value in parsed.args.items()} == {
        key: type(value) for key, value in case["args"].items()
    }
    assert cast_coordinates(parsed.args) == case["sanitized_args"]
