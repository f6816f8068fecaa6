"""descendants against the published code's output."""

import pytest

from annotations.dom.tree import NODE_ID, descendants, find, parse
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("dom_descendants"))
def test_descendant_ids_agree_with_the_published_code(case):
    node = find(parse(case["html"]), case["node"])
    assert [child.get(NODE_ID, "") for child in descendants(node, case["max_depth"])] == case["expected"]
