"""Element and action text of generated replies."""

import pytest

from agents.planner.parse import CORRECTED, FAITHFUL, Reply, parse_generation
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("postprocess_generation"))
def test_element_and_action_agree_with_the_published_parser(case):
    error = case.get("error")
    if error is not None:
        with pytest.raises((IndexError, ValueError)) as raised:
            parse_generation(case["text"], case["choices"], FAITHFUL)
        assert error.startswith(raised.type.__name__)
        assert parse_generation(case["text"], case["choices"], CORRECTED).element is None
        return
    assert parse_generation(case["text"], case["choices"], FAITHFUL) == Reply(case["selected"], case["action"])
