"""Rendering pages as text, beyond the conformance cases."""

import pytest

from annotations.dom.prune import prune_tree
from annotations.dom.text import EmptyTextError, page_text, tree_repr
from annotations.dom.tree import parse
from tests.annotations.test_dom_prune import FLIGHTS

EXPECTED = "(html(form search flights(input id=0 text from city )(button id=1 submitSearch & go)))"


def test_the_worked_example_of_the_published_code_renders_as_printed():
    text, mapping = tree_repr(prune_tree(parse(FLIGHTS), ["9", "10"]))
    assert (text, mapping) == (EXPECTED, {"9": 0, "10": 1})


def test_every_call_starts_with_a_fresh_mapping_unless_one_is_passed():
    pruned = prune_tree(parse(FLIGHTS), ["10"])
    assert tree_repr(pruned)[1] == tree_repr(pruned)[1] == {"10": 0}
    assert tree_repr(pruned, {"4": 0})[1] == {"4": 0, "10": 1}


def test_raw_ids_are_printed_without_renumbering_and_the_mapping_is_made_all_the_same():
    text, mapping = tree_repr(prune_tree(parse(FLIGHTS), ["10"]), keep_html_brackets=True, renumber=False)
    assert "<button id=10 submit>" in text
    assert mapping == {"10": 0}


def test_a_page_may_be_given_as_text():
    assert tree_repr('<a backend_node_id="7"/>')[0] == "(a id=0 )"


def test_text_shown_as_an_entity_is_unescaped_twice():
    assert tree_repr("<a><text>&amp;lt;b&amp;gt;</text></a>")[0] == "(a<b>)"


def test_a_text_without_text_fails_as_published_and_says_why():
    with pytest.raises(EmptyTextError, match="clean the page") as raised:
        tree_repr("<a><text/></a>")
    assert isinstance(raised.value, AttributeError)


def test_a_page_says_its_texts_and_values_in_one_order_and_nothing_of_scripts():
    page = """<html><head><title>Shop</title><style>p{}</style></head><body><script>bad()</script> after
    <input value="7" name="n" aria_label="Rooms" type="text" class="no"/><!-- no -->
    <p>Buy <b>now</b> </p></body></html>"""
    assert page_text(parse(page)) == "Shop after text Rooms n 7 Buy now"
