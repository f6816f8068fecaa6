"""Element and action text of generated replies."""

import pytest

from agents.words.parse import CORRECTED, FAITHFUL, ParsedReply, parse_generation
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("postprocess_generation"))
def test_element_and_action_agree_with_the_published_parser(case):
    with crash_of(case) as crashes:
        reply = parse_generation(case["text"], case["choices"], FAITHFUL)
    if crashes:
        assert parse_generation(case["text"], case["choices"], CORRECTED).element is None
        return
    assert reply == ParsedReply(case["selected"], case["action"])
