"""Parsing pages safely and finding nodes."""

import pytest

from annotations.dom import limits
from annotations.dom.limits import PageError
from annotations.dom.tree import descendants, find, node_ids, parse

NESTED = """<html backend_node_id="1"><body backend_node_id="2">
  <text backend_node_id="3">Hi</text><a><b backend_node_id="4"/></a>
</body></html>"""


def test_whitespace_and_order_of_a_page_are_kept():
    root = parse(NESTED)
    assert root[0].text == "\n  "
    assert node_ids(root) == ["1", "2", "3", "4"]


def test_a_page_may_come_as_bytes_and_with_an_xml_declaration():
    assert parse('<?xml version="1.0" encoding="utf-8"?>\n<p>é</p>'.encode()).text == "é"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<a><b></a>", "not well-formed"),
        ("", "not well-formed"),
        ("<a>&nbsp;</a>", "not well-formed"),
        (b"<a>\xff</a>", "not UTF-8"),
        ('<!DOCTYPE a [<!ENTITY x "lol">]><a b="&x;"/>', "entities"),
    ],
)
def test_a_page_that_cannot_be_read_says_why(page, message):
    with pytest.raises(PageError, match=message):
        parse(page)


def test_a_page_beyond_the_size_limit_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "MAX_PAGE_CHARS", 10)
    with pytest.raises(PageError, match="at most 10"):
        parse("<a>0123456789</a>")


def test_pages_deeper_than_the_parsers_default_limit_are_read():
    assert len(list(parse("<a>" * 1_000 + "</a>" * 1_000).iter())) == 1_000


def test_pages_nested_without_measure_are_refused():
    with pytest.raises(PageError, match="depth"):
        parse("<a>" * 100_000 + "</a>" * 100_000)


def test_find_gives_the_first_element_with_the_id():
    root = parse('<a><b backend_node_id="1" n="first"/><b backend_node_id="1"/></a>')
    assert find(root, "1").get("n") == "first"
    with pytest.raises(IndexError, match="'7'"):
        find(root, "7")


def test_descendants_count_levels_from_the_children_on_and_stop_at_the_limit():
    root = parse("<a><b><c><d/></c></b><e/></a>")
    assert [node.tag for node in descendants(root, 0)] == ["b", "e"]
    assert [node.tag for node in descendants(root, 1)] == ["b", "c", "e"]
    assert [node.tag for node in descendants(root, 5, limit=3)] == ["b", "c", "d"]
