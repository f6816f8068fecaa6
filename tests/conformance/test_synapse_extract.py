"""What stands between backticks in a reply."""

import pytest

from agents.words.trajectory_parse import in_backticks, in_fence
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("synapse_extract"))
def test_extracted_text_agrees_with_the_published_code(case):
    with crash_of(case) as crashes:
        found = in_backticks(case["text"]), in_fence(case["text"])
    assert crashes or found == (case["backtick1"], case["backtick3"])
