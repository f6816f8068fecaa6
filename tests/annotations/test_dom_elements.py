"""Elements as people name them, on cleaned, recorded and MiniWoB++ pages."""

import pytest

from annotations.dom.elements import DescribedElement, describe, elements
from annotations.dom.taking import Taking, taking_of
from annotations.dom.tree import parse

RECORDED = """<html backend_node_id="1"><head><title><text>Nordline</text></title></head>
<body backend_node_id="2" bounding_box_rect="0,0,1280,900">
  <div class="field"><label backend_node_id="3" for="from"><text>From</text></label>
    <span><input backend_node_id="4" id="from" type="text" input_value="Oslo" placeholder="City"
      bounding_box_rect="10.5,20,200,32"/></span></div>
  <label backend_node_id="5"><input backend_node_id="6" type="checkbox" name="dog" input_checked="true"/>
    <text>With a dog</text></label>
  <div><text>Class</text><select backend_node_id="7"><option backend_node_id="8" value="e"><text>Economy</text></option>
    <option backend_node_id="9" option_selected="true"><text>First</text></option></select></div>
  <button backend_node_id="10" bounding_box_rect="-1,-1,-1,-1"><svg backend_node_id="11" class="icon-search"/></button>
  <input backend_node_id="12" type="submit" value="Book now"/>
  <input backend_node_id="13" type="hidden" value="t0ken"/>
  <div backend_node_id="14" is_clickable="true"><text>More   filters</text></div>
  <a backend_node_id="15" aria_label="Saved houses"><text>3</text></a>
  <div backend_node_id="16" role="tab" title="Trips"/>
  <script backend_node_id="17"><text>var x</text></script>
</body></html>"""


TAKING = """<div backend_node_id="1"><textarea backend_node_id="2"/><div backend_node_id="3" contenteditable="true">
<p backend_node_id="4"><text>Dear</text></p></div><label backend_node_id="5"><input backend_node_id="6" role="button"/>
</label><button backend_node_id="7"/><input backend_node_id="8" type="checkbox"/><select backend_node_id="9">
<option backend_node_id="10"><text>One</text></option><option value="two"/></select><span backend_node_id="11"/>
<span backend_node_id="12" role="searchbox"/><li backend_node_id="13"/>
<input backend_node_id="14" type="number"/></div>"""


@pytest.mark.parametrize(
    ("nodes", "takes"),
    [("1 2 3 4 5 6 12 14", True), ("7 8 9 10 13", False), ("11", None)],
    ids=["text", "none", "open"],
)
def test_what_takes_text(nodes: str, takes: bool | None) -> None:
    """Around a field as in it, and in an element that is edited in place; of a plain one the page does not say."""
    found = {node: taking_of(parse(TAKING), node) for node in nodes.split()}
    assert {node: one and one.text for node, one in found.items()} == dict.fromkeys(found, takes)


def test_a_list_offers_all_its_options() -> None:
    """Those without an id too."""
    assert taking_of(parse(TAKING), "9") == Taking("combobox", False, ("One", "two"), False)
    assert taking_of(parse(TAKING), "10") == Taking("option", False, (), True)
    assert taking_of(parse(TAKING), "99") is None


@pytest.fixture(scope="module")
def page() -> dict[str, DescribedElement]:
    return {element.node_id: element for element in elements(parse(RECORDED))}


@pytest.mark.parametrize(
    ("node_id", "description"),
    [
        ("4", "[textbox]  From"),
        ("6", "[checkbox]  With a dog"),
        ("7", "[combobox]  Class"),
        ("8", "[option]  Economy"),
        ("10", "[button]  icon search"),
        ("12", "[button]  Book now"),
        ("14", "[div]  More filters"),
        ("15", "[link]  Saved houses"),
        ("16", "[tab]  Trips"),
    ],
)
def test_elements_are_described_by_role_and_accessible_name(page, node_id, description):
    assert describe(page[node_id]) == description


def test_values_are_what_fields_hold_now(page):
    assert {i: page[i].value for i in ("4", "6", "7", "10", "12")} == {
        "4": "Oslo",
        "6": "true",
        "7": "First",
        "10": "",
        "12": "",
    }


def test_a_select_knows_its_options_and_keeps_them_out_of_the_text_around_it(page):
    assert page["7"].options == (("8", "Economy"), ("9", "First"))
    assert "Economy" not in page["2"].text
    assert page["10"].options == ()


def test_boxes_are_read_and_missing_layout_is_none(page):
    assert page["4"].bbox == (10.5, 20.0, 200.0, 32.0)
    assert page["10"].bbox is None
    assert page["12"].bbox is None


def test_what_a_person_could_act_on_is_interactive(page):
    assert {i for i, element in page.items() if element.interactive} == {
        "4",
        "6",
        "7",
        "8",
        "9",
        "10",
        "12",
        "14",
        "15",
        "16",
    }


def test_parents_are_the_nearest_ancestors_with_an_id_and_order_is_that_of_the_page(page):
    assert page["4"].parent_id == "2"
    assert page["1"].parent_id is None
    assert (page["1"].depth, page["3"].depth) == (0, 3)
    assert [element.order for element in page.values()] == list(range(len(page)))


def test_scripts_and_the_head_are_left_out(page):
    assert "17" not in page
    assert "Nordline" not in page["1"].text


@pytest.mark.parametrize(
    "fields",
    [
        '<p><label><text>User</text></label><input backend_node_id="1" type="text" id="u"/></p>',
        '<table><tr><td><text>User</text></td><td><input backend_node_id="1"/></td></tr></table>',
        '<div><label><text>User</text></label><span><input backend_node_id="1"/><a/></span></div>',
        '<div><label><text>User</text></label><small/><input backend_node_id="1" name="u"/></div>',
        '<div><text>User</text><input backend_node_id="1"/></div>',
    ],
)
def test_a_label_or_text_beside_a_field_names_it_where_nothing_points_to_it(fields):
    assert elements(parse(fields))[0].name == "User"


def test_text_behind_a_radio_button_names_it():
    root = parse(
        '<div><input backend_node_id="1" type="radio"/><text>Yes</text>'
        '<input backend_node_id="2" type="radio"/><text>No</text></div>'
    )
    assert [element.name for element in elements(root)] == ["Yes", "No"]


def test_a_field_is_not_named_by_the_label_of_the_field_before_it():
    root = parse(
        '<div><label><text>From</text></label><input backend_node_id="1"/>'
        '<input backend_node_id="2" placeholder="To"/></div>'
    )
    assert [element.name for element in elements(root)] == ["From", "To"]


def test_long_names_are_cut_in_descriptions():
    root = parse(f'<a backend_node_id="1"><text>{"word " * 60}</text></a>')
    assert describe(elements(root)[0]) == "[link]  " + ("word " * 16)[:77] + "..."


def test_an_explicit_role_wins_unless_it_takes_the_role_away():
    root = parse(
        '<div><a backend_node_id="1" role="Button"/><a backend_node_id="2" aria_role="tab"/>'
        '<button backend_node_id="3" role="presentation"/></div>'
    )
    assert [element.role for element in elements(root)] == ["button", "tab", "button"]
