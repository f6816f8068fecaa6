"""clean_tree against the published code's output."""

import pytest
from lxml import etree

from annotations.dom.prune import clean_tree
from annotations.dom.tree import parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("dom_clean_tree"))
def test_cleaned_page_agrees_with_the_published_code(case):
    with crash_of(case) as crashes:
        cleaned = clean_tree(parse(case["html"]), case["all_candidate_ids"])
    assert crashes or etree.tostring(cleaned, encoding="unicode") == case["cleaned_xml"]
