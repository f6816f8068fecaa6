"""Replies of action models as the published parser reads them."""

import pytest

from agents.weblinx.parse import cast_coordinates, parse_action
from tests.conformance.weblinx import params


@pytest.mark.parametrize("case", params("weblinx_action_parse", "cases"))
def test_replies_are_read_as_published(case):
    parsed = parse_action(case["raw"])
    assert (parsed.raw_intent, parsed.raw_args) == (case["raw_intent"], case["raw_args"])
    assert (parsed.intent, parsed.args) == (case["intent"], case["args"])
    assert {key: type(value) for key, value in parsed.args.items()} == {
        key: type(value) for key, value in case["args"].items()
    }
    assert cast_coordinates(parsed.args) == case["sanitized_args"]
