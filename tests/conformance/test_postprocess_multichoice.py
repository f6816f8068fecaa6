"""Option letter and action text of multiple-choice replies."""

import pytest

from agents.words.parse import CORRECTED, FAITHFUL, read_option
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("postprocess_multichoice"))
def test_option_and_action_agree_with_the_published_parser(case):
    with crash_of(case) as crashes:
        read = read_option(case["text"], FAITHFUL)
    if crashes:
        assert read_option(case["text"], CORRECTED)[0] == "A"
        return
    assert read == (case["selected"], case["action"])
