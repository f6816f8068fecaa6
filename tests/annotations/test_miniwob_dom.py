"""Element trees become pages in the shape of Mind2Web's `cleaned_html`."""

from collections.abc import Iterator
from itertools import count

import pytest
from lxml import etree

from annotations.datasets.miniwob_dom import PageMaker, describe
from tests.annotations.miniwob_episode import Node, body, element, find, words


def xml(root: Node) -> etree._Element:
    return etree.fromstring(PageMaker().page(root).html)


def by_id(page: etree._Element, node_id: str) -> etree._Element:
    (found,) = page.xpath(f'//*[@backend_node_id="{node_id}"]')
    return found


def name_of(root: Node, ref: int) -> str:
    node = find(root, ref)
    return describe(node, PageMaker().page(root).of(node), root)


def test_a_page_has_lower_case_tags_and_one_text_child_per_text():
    page = xml(body(element("P", 1, words("Date: "), element("BUTTON", 2, text="Go"))))
    assert [node.tag for node in page.iter()] == ["body", "div", "div", "p", "text", "button", "text"]
    assert [node.text for node in page.iter("text")] == ["Date: ", "Go"]


def test_an_input_carries_its_type_and_current_value():
    field = by_id(xml(body(element("INPUT_text", 1, value="alan", id="user", classes="wide"))), "1")
    assert dict(field.attrib) == {
        "backend_node_id": "1",
        "type": "text",
        "id": "user",
        "class": "wide",
        "input_value": "alan",
        "bounding_box_rect": "2,60,96.5,21",
        "is_clickable": "true",
    }


def test_values_have_the_published_names():
    page = xml(
        body(
            element("INPUT_checkbox", 1, value=True),
            element("INPUT_checkbox", 2, value=False),
            element("TEXTAREA", 3, value="now", text="at first"),
            element("INPUT_button", 4, value="OK"),
        )
    )
    assert by_id(page, "1").get("input_checked") == "true"
    assert by_id(page, "2").get("input_checked") is None
    assert by_id(page, "3").get("text_value") == "now"
    assert by_id(page, "4").get("value") == "OK"
    assert "at first" not in "".join(page.itertext())


def test_special_and_illegal_characters_survive_or_vanish_but_never_break_the_page():
    text = 'a<b> & "c" \x00\x1b\ud800\ufffe é 漢'
    page = xml(body(element("DIV", 1, text=text), element("TEXTAREA", 2, value="one\ntwo\t<")))
    assert by_id(page, "1")[0].text == 'a<b> & "c"  é 漢'
    assert by_id(page, "2").get("text_value") == "one\ntwo\t<"


def test_an_svg_text_is_no_page_text_and_svg_classes_are_dropped():
    page = xml(body(element("svg", 1, element("text", 2, text="K", classes={}), classes={})))
    assert by_id(page, "2").tag == "svg-text"
    assert "class" not in by_id(page, "1").attrib


def test_the_colour_of_an_empty_leaf_is_kept():
    page = xml(body(element("DIV", 1, bgColor="rgb(255, 0, 0)"), element("DIV", 2, text="x", bgColor="rgb(1, 2, 3)")))
    assert by_id(page, "1").get("bg_color") == "rgb(255, 0, 0)"
    assert by_id(page, "2").get("bg_color") is None


def test_elements_with_the_same_ref_get_different_ids():
    root = body(element("SPAN", 900, text="new"), element("SPAN", 901))
    ids = [node.get("backend_node_id") for node in xml(root).iter("body", "div", "span")]
    assert len(set(ids)) == 5
    assert ids[:2] == ["900", "901"]


def test_an_element_keeps_its_id_when_the_page_changes():
    maker = PageMaker()
    before = body(element("SPAN", 900, text="same ref as the body"), element("BUTTON", 2))
    after = body(element("P", 5), element("SPAN", 900, text="moved"))
    first, second = maker.page(before), maker.page(after)
    assert first.of(find(before["children"][0], 900)).node_id == second.of(find(after["children"][0], 900)).node_id
    assert second.of(find(after, 5)).node_id == "5"


def renumbered(node: Node, refs: Iterator[int]) -> Node:
    return node | {"ref": next(refs), "children": [renumbered(child, refs) for child in node["children"]]}


@pytest.mark.parametrize("first", [50, 2])
def test_elements_keep_their_ids_when_the_end_of_the_episode_renumbers_them(first):
    maker = PageMaker()
    before = body(element("INPUT_text", 1, id="user"), element("BUTTON", 2), element("BUTTON", 3))
    assert maker.page(before).html == maker.page(renumbered(before, count(first))).html


def test_elements_keep_their_ids_when_others_vanish_and_appear_while_they_are_renumbered():
    maker = PageMaker()
    before = body(element("H3", 1), element("DIV", 2), element("P", 3, element("BUTTON", 4)))
    after = renumbered(body(element("H3", 1), element("SVG", 2), element("P", 3, element("BUTTON", 4))), count(60))
    known = {item.node_id for item in maker.page(before).elements.values()}
    ids = {item.tag: item.node_id for item in maker.page(after).elements.values()}
    assert (ids["h3"], ids["p"], ids["button"]) == ("1", "3", "4")
    assert ids["svg"] not in known


def test_candidates_are_leaves_controls_and_carriers_of_text():
    root = body(
        element("DIV", 1, element("LABEL", 2, element("INPUT_checkbox", 3, value=False), words("danger"))),
        element("P", 4, words("see "), element("SPAN", 5, text="this")),
        element("BR", 6),
    )
    candidates = [item.node_id for item in PageMaker().page(root).elements.values() if item.is_candidate]
    assert candidates == ["2", "3", "4", "5"]


def test_an_input_is_named_by_the_block_it_stands_alone_in():
    root = body(
        element("P", 1, element("LABEL", 2, text="Username"), element("INPUT_text", 3)),
        element("TR", 4, element("TH", 5, text="Year"), element("TD", 6, element("INPUT_number", 7))),
        element("LABEL", 8, element("INPUT_checkbox", 9, value=False), words(" danger")),
        element("DIV", 10, element("INPUT_date", 11, id="tt"), element("BUTTON", 12, text="Submit")),
    )
    assert name_of(root, 3) == "[textbox]  Username"
    assert name_of(root, 7) == "[spinbutton]  Year"
    assert name_of(root, 9) == "[checkbox]  danger"
    assert name_of(root, 11) == "[textbox]  tt"


def test_other_elements_are_named_by_their_text_or_their_id_or_class():
    root = body(
        element("A", 1, element("SPAN", 2, text="Next "), words(" page")),
        element("SPAN", 3, classes="trash"),
        element("SELECT", 4, element("OPTION", 5, text="Ana"), id="options"),
        element("DIV", 6, text="x" * 100),
    )
    assert name_of(root, 1) == "[link]  Next page"
    assert name_of(root, 3) == "[span]  trash"
    assert name_of(root, 4) == "[combobox]  options"
    assert name_of(root, 6) == f"[div]  {'x' * 77}..."
