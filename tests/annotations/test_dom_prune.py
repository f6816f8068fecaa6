"""Pruning around candidates and cleaning, beyond the conformance cases."""

import pytest
from lxml import etree

from annotations.dom.limits import PageError
from annotations.dom.prune import clean_tree, prune_tree
from annotations.dom.tree import node_ids, parse

# The worked example of the sources.md M2.5.
FLIGHTS = (
    '<html backend_node_id="1"><body backend_node_id="2"><nav backend_node_id="3" role="navigation">'
    '<a backend_node_id="4"><text backend_node_id="5">Home</text></a></nav><div backend_node_id="6">'
    '<div backend_node_id="7"><form backend_node_id="8" aria_label="Search flights">'
    '<input backend_node_id="9" type="text" placeholder="From city" value="From city"/>'
    '<button backend_node_id="10" type="submit"><text backend_node_id="11">Search &amp; go</text></button></form></div>'
    '</div><footer backend_node_id="12"><p backend_node_id="13"><text backend_node_id="14">Legal</text></p></footer>'
    "</body></html>"
)
PRUNED = (
    '<html><form aria_label="Search flights"><input backend_node_id="9" type="text" placeholder="From city" '
    'value="From city"/><button backend_node_id="10" type="submit"><text>Search &amp; go</text></button></form></html>'
)


def xml(root: etree._Element) -> str:
    return etree.tostring(root, encoding="unicode")


@pytest.mark.parametrize("candidates", [["9", "10"], ["10", "9"], {"9", "10"}])
def test_the_order_of_candidates_does_not_matter(candidates):
    assert xml(prune_tree(parse(FLIGHTS), candidates)) == PRUNED


def test_siblings_of_a_candidate_stay_without_their_id():
    assert node_ids(prune_tree(parse(FLIGHTS), ["10"])) == ["10"]
    assert '<input type="text"' in xml(prune_tree(parse(FLIGHTS), ["10"]))


def test_pruning_and_cleaning_leave_the_page_as_it_is():
    root = parse(FLIGHTS)
    prune_tree(root, ["10"])
    clean_tree(root, [])
    assert xml(root) == FLIGHTS


def test_a_candidate_that_is_not_on_the_page_is_an_index_error():
    with pytest.raises(IndexError, match="'99'"):
        prune_tree(parse(FLIGHTS), ["99"])


def test_a_text_cannot_be_a_candidate():
    with pytest.raises(PageError, match="'11' is a <text>"):
        prune_tree(parse(FLIGHTS), ["11"])


def test_a_node_without_id_near_a_candidate_keeps_all_nodes_without_id():
    root = parse('<a backend_node_id="1"><b><text>x</text></b><c backend_node_id="2"/><d e="f"/></a>')
    assert (
        xml(prune_tree(root, ["2"], max_sibling=1)) == '<a><b><text>x</text></b><c backend_node_id="2"/><d e="f"/></a>'
    )


def test_cleaning_keeps_icon_words_of_svg_classes_only():
    root = parse('<a backend_node_id="1" class="icon-x"><svg backend_node_id="2" class="big my-Icon x"/></a>')
    assert xml(clean_tree(root, ["1"])) == '<a backend_node_id="1"><svg backend_node_id="2" class="my-Icon"/></a>'


def test_cleaning_a_page_that_is_one_empty_text_fails_as_published():
    with pytest.raises(AttributeError):
        clean_tree(parse('<text backend_node_id="1"> </text>'), [])
