"""Option letter and action text of multiple-choice replies."""

import pytest

from agents.planner.parse import CORRECTED, FAITHFUL, read_option
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("postprocess_multichoice"))
def test_option_and_action_agree_with_the_published_parser(case):
    error = case.get("error")
    if error is not None:
        with pytest.raises(IndexError):
            read_option(case["text"], FAITHFUL)
        assert error.startswith("IndexError")
        assert read_option(case["text"], CORRECTED)[0] == "A"
        return
    assert read_option(case["text"], FAITHFUL) == (case["selected"], case["action"])
