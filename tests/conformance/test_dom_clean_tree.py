"""clean_tree against the published code's output."""

import builtins

import pytest
from lxml import etree

from annotations.dom.prune import clean_tree
from annotations.dom.tree import parse
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("dom_clean_tree"))
def test_cleaned_page_agrees_with_the_published_code(case):
    if case["error"]:
        with pytest.raises(getattr(builtins, case["error"])):
            clean_tree(parse(case["html"]), case["all_candidate_ids"])
        return
    cleaned = clean_tree(parse(case["html"]), case["all_candidate_ids"])
    assert etree.tostring(cleaned, encoding="unicode") == case["cleaned_xml"]
