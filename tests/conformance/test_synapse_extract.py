"""What stands between backticks in a reply."""

import pytest

from agents.planner.trajectory_parse import in_backticks, in_fence
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("synapse_extract"))
def test_extracted_text_agrees_with_the_published_code(case):
    assert in_backticks(case["text"]) == case["backtick1"]
    assert in_fence(case["text"]) == case["backtick3"]
