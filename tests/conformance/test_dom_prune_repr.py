"""prune_tree and tree_repr against the published code's output."""

import pytest
from lxml import etree

from annotations.dom.prune import prune_tree
from annotations.dom.text import tree_repr
from annotations.dom.tree import NODE_ID, parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("dom_prune_repr"))
def test_pruned_page_and_its_text_agree_with_the_published_code(case):
    with crash_of(case) as crashes:
        pruned = prune_tree(parse(case["html"]), case["candidate_ids"], **case["params"])
        text, id_mapping = tree_repr(pruned)
    if crashes:
        return
    assert etree.tostring(pruned, encoding="unicode") == case["pruned_xml"]
    assert text == case["repr_paren"]
    assert id_mapping == case["id_mapping"]
    assert tree_repr(pruned, keep_html_brackets=True)[0] == case["repr_brackets"]

    survivors = pruned.xpath(f"//*[@{NODE_ID}]")
    assert [node.get(NODE_ID) for node in survivors] == case["candidate_order"]
    choice_texts = [" ".join(tree_repr(node, id_mapping)[0].split()[:10]) for node in survivors]
    assert choice_texts == case["choice_texts"]
