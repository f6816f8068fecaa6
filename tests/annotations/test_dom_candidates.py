"""Candidate texts in one pass: equal to the straightforward version on any page, and fast."""

import random
import time
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from annotations.dom.candidates import format_candidate, format_candidates
from annotations.dom.generated import list_page, random_page
from annotations.dom.text import EmptyTextError
from annotations.dom.tree import NODE_ID, TEXT, parse

TAGS = ("div", "a", "ul", "text", "text", "button", "my-tag")
# Words that the published replacements act on, alone, in a row, and across the border of two texts.
AWKWARD = (
    *("plain", "word word", '"', "'", "(", ")", "( x )", "id=", "id= 5", "meta=", "meta= m", " ", "\n ", "\r", "\xa0"),
    *("$", "/", "$/", "/$", "$/$", "&", "lt;", "amp;", "&lt;", "&amp;", "&quot;", "&amp;amp;", "#40;", "nbsp;", "<b>"),
    *(">", "/>", "x/", "http://x", "hidden", "none", "東京", "averyveryverylongword", "a b c d e f g", "w " * 25, ""),
)
texts = st.lists(st.sampled_from(AWKWARD), max_size=4).map("".join)
words = st.lists(st.sampled_from(AWKWARD), max_size=3).map(" ".join)
attributes = st.dictionaries(st.sampled_from(("role", "title", "class", "value", "style")), words, max_size=2)


@st.composite
def pages(draw, odd: bool = False) -> etree._Element:
    """A page of up to 20 nodes with awkward texts and tails; an odd one lacks ids, repeats them or has comments."""
    root = etree.Element("html", {NODE_ID: "0"})
    elements = [root]
    for number in range(1, draw(st.integers(1, 20))):
        # Close parents make deep trees, far ones wide trees.
        parent = elements[-1 - draw(st.integers(0, min(len(elements) - 1, 6)))]
        node = etree.SubElement(parent, draw(st.sampled_from(TAGS)), draw(attributes) if draw(st.booleans()) else {})
        node.set(NODE_ID, str(number))
        node.tail = draw(st.none() | texts)
        if node.tag == TEXT:
            if draw(st.booleans()):
                node.attrib.clear()
            node.text = draw(texts)
        else:
            node.text = draw(st.none() | texts)
        if node.tag != TEXT or odd:
            elements.append(node)
        if odd:
            _make_odd(node, draw(st.integers(0, 8)))
    return parse(etree.tostring(root, encoding="unicode"))


def _make_odd(node: etree._Element, kind: int) -> None:
    if kind == 0:
        node.attrib.pop(NODE_ID, None)
    elif kind == 1:
        node.set(NODE_ID, "1")
    elif kind == 2:
        node.addprevious(etree.Comment(" a > b "))
    elif kind == 3 and node.tag != TEXT:
        etree.SubElement(node, "{urn:x}svg", {NODE_ID: f"{node.get(NODE_ID)}x"})


def candidates_of(root: etree._Element) -> list[str]:
    return [node.get(NODE_ID) for node in root.iter("*") if node.tag != TEXT and node.get(NODE_ID)]


def outcome(function, *arguments) -> object:
    """What a call returns, or the class of the error it raises."""
    try:
        return function(*arguments)
    except (IndexError, ValueError, AttributeError) as error:
        return type(error)


@pytest.mark.slow
@given(pages())
def test_one_pass_gives_the_text_of_the_straightforward_version(root):
    for node_id in candidates_of(root):
        expected = outcome(format_candidate, root, node_id)
        assert outcome(lambda wanted=node_id: format_candidates(root, [wanted])[wanted]) == expected


@pytest.mark.slow
@given(pages(odd=True))
def test_pages_with_missing_or_repeated_ids_comments_or_namespaces_give_the_same_text_too(root):
    for node_id in candidates_of(root):
        expected = outcome(format_candidate, root, node_id)
        assert outcome(lambda wanted=node_id: format_candidates(root, [wanted])[wanted]) == expected


@pytest.mark.slow
@pytest.mark.full_size
@pytest.mark.parametrize("seed", range(3))
def test_deep_and_wide_random_pages_give_the_same_text(seed):
    xml, candidates = random_page(600, seed=seed, wide_children=120)
    root = parse(xml)
    texts = format_candidates(root, candidates)
    for node_id in random.Random(seed).sample(candidates, 60):
        assert texts[node_id] == format_candidate(root, node_id)


@cache
def large_list() -> tuple[etree._Element, list[str]]:
    xml, candidates = list_page(12_000)
    return parse(xml), candidates


@pytest.mark.slow
@pytest.mark.full_size
def test_list_page_has_the_promised_size_and_the_same_texts():
    root, candidates = large_list()
    assert len(candidates) == 4_656
    texts = format_candidates(root, candidates)
    for node_id in candidates[:2] + candidates[2_000:2_001] + candidates[-1:]:
        assert texts[node_id] == format_candidate(root, node_id)


def test_missing_and_text_candidates_fail_as_published():
    root = parse('<html backend_node_id="1"><text backend_node_id="2">x</text></html>')
    with pytest.raises(IndexError):
        format_candidates(root, ["7"])
    with pytest.raises(ValueError, match="the candidate '2' is a <text>"):
        format_candidates(root, ["2"])


def test_empty_text_near_a_candidate_fails_as_published():
    root = parse('<html backend_node_id="1"><a backend_node_id="2"><text backend_node_id="3"/></a></html>')
    with pytest.raises(EmptyTextError):
        format_candidates(root, ["2"])


def seconds(root: etree._Element, candidates: list[str]) -> float:
    """Processor time of one call; the budgets are those of a machine that does nothing else."""
    start = time.process_time()
    format_candidates(root, candidates)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.full_size
def test_a_list_of_12000_nodes_takes_at_most_half_a_second():
    assert any(seconds(*large_list()) <= 0.5 for _ in range(3))


@pytest.mark.timed
@pytest.mark.slow
def test_a_random_page_of_12000_nodes_takes_at_most_one_and_a_half_seconds():
    xml, candidates = random_page(12_000)
    root = parse(xml)
    assert any(seconds(root, candidates) <= 1.5 for _ in range(3))


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.parametrize("page", [list_page, random_page])
def test_twice_the_page_takes_at_most_2_3_times_as_long(page):
    pages = [(parse(xml), candidates) for xml, candidates in (page(12_000), page(24_000))]
    once, twice = (min(times) for times in zip(*([seconds(*each) for each in pages] for _ in range(5)), strict=True))
    assert twice <= 2.3 * once
