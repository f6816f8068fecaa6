"""What stands between backticks in a reply."""

import pytest

from agents.planner.trajectory_parse import extract_backticks, extract_fence
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("synapse_extract"))
def test_extracted_text_agrees_with_the_published_code(case):
    assert extract_backticks(case["text"]) == case["backtick1"]
    assert extract_fence(case["text"]) == case["backtick3"]
