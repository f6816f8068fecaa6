"""The ranker's candidate text against the published code's output, in both versions of ours."""

import pytest

from annotations.dom.candidates import format_candidate, format_candidates
from annotations.dom.tree import parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("ranker_format_candidate"))
def test_candidate_text_agrees_with_the_published_code(case):
    root, node_id = parse(case["html"]), case["backend_node_id"]
    with crash_of(case) as crashes:
        text = format_candidate(root, node_id)
    if crashes:
        return
    assert text == case["text"]
    assert format_candidates(root, [node_id]) == {node_id: case["text"]}
