"""Reading replies: the corrected values, the crashes of the published parser, and the element that is meant."""

import pytest

from agents.weblinx.pages import parse_page, xpaths
from agents.weblinx.parse import cast_coordinates, parse_action, predicted_element, uid_at
from agents.weblinx.quirks import CORRECTED, CRASHING, FAITHFUL
from tests.agents.weblinx_demo import BOXES, box, browser, make_demo


def test_quoted_numbers_stay_texts_when_corrected():
    reply = 'text_input(text="5", uid="12", x=3, y=-4.5)'
    assert parse_action(reply, FAITHFUL).args == {"text": 5, "uid": 12, "x": 3, "y": -4.5}
    assert parse_action(reply, CORRECTED).args == {"text": "5", "uid": "12", "x": 3, "y": -4.5}


def test_an_intent_that_is_no_text_is_unknown_and_counted():
    parsed = parse_action("action(intent=5)")
    assert (parsed.intent, parsed.handled) == ("<unk>", ("intent that is no text",))
    with pytest.raises(AttributeError):
        parse_action("action(intent=5)", CRASHING)


def test_digits_that_are_no_number_stay_a_text_and_are_counted():
    parsed = parse_action('change(value="²", uid="a")')
    assert parsed.args == {"value": "²", "uid": "a"}
    assert parsed.handled == ("digit that is no number",)
    with pytest.raises(ValueError, match="invalid literal"):
        parse_action('change(value="²", uid="a")', CRASHING)


def test_ordinary_replies_count_nothing():
    assert parse_action('click(uid="a")').handled == ()


def find(reply, quirks=FAITHFUL):
    demo = make_demo(browser("click", "go"))
    parsed = parse_action(reply, quirks)
    return predicted_element(parsed.intent, cast_coordinates(parsed.args), demo, demo.turns[0], quirks)


def test_elements_are_found_by_uid_on_the_page_and_in_the_boxes():
    record = {"attributes": {"data-webtasks-id": "go"}, "bbox": BOXES["go"], "xpath": "/html/body/form/button"}
    assert find('click(uid="go")') == record
    assert find('click(data-webtasks-id="go")') == record
    assert find('click(uid="gone")') is None
    assert find("click(uid=5)") is None
    assert find('load(uid="go")') is None


def test_a_point_means_the_smallest_box_that_holds_it():
    assert find("click(x=240, y=25)")["attributes"] == {"data-webtasks-id": "go"}
    assert find("click(x=399.5, y=25)")["attributes"] == {"data-webtasks-id": "form"}
    assert find("click(x=5000, y=25)") is None
    assert find("click(x=240, y=wide)") is None


def test_corners_mean_their_centre_when_corrected_only():
    reply = "click(top=20, left=230, right=310, bottom=50)"
    assert find(reply) is None
    assert find(reply, CORRECTED)["attributes"] == {"data-webtasks-id": "go"}
    assert find("click(top=a, left=230, right=310, bottom=50)", CORRECTED) is None


def test_edges_are_rounded_outwards_empty_boxes_never_match_and_the_first_of_equal_ones_wins():
    boxes = {"empty": box(0, 0, 0, 9), "first": box(0.9, 0.9, 9, 9), "second": box(0, 0, 9, 9)}
    assert uid_at(boxes, 0, 0) == "first"
    assert uid_at(boxes, 10.1, 0) is None


def test_pages_with_an_encoding_declaration_are_read_and_empty_ones_are_none():
    page = '<?xml version="1.0" encoding="latin-1"?><html><body><p data-webtasks-id="p">é</p></body></html>'
    assert parse_page(page).findtext(".//p") == "é"
    assert xpaths(page) == {"p": "/html/body/p"}
    assert parse_page("") is None
    assert xpaths("") == {}
