"""descendants against the published code's output."""

import pytest

from annotations.dom.tree import NODE_ID, descendants, find, parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("dom_descendants"))
def test_descendant_ids_agree_with_the_published_code(case):
    with crash_of(case) as crashes:
        found = descendants(find(parse(case["html"]), case["node"]), case["max_depth"])
        ids = [child.get(NODE_ID, "") for child in found]
    assert crashes or ids == case["expected"]
