"""The accessibility tree as text."""

import re

from annotations.dom.accessibility import accessibility_tree
from annotations.dom.elements import elements
from annotations.dom.tree import parse
from tests.annotations.test_dom_elements import RECORDED

EXPECTED = """\
[1] RootWebArea 'Nordline'
	[3] StaticText 'From'
	[4] textbox 'From' required: False value: 'Oslo'
	[6] checkbox 'With a dog' checked: true
	[5] StaticText 'With a dog'
	[2] StaticText 'Class'
	[7] combobox 'Class' hasPopup: menu expanded: False value: 'First'
		[8] option 'Economy' selected: False
		[9] option 'First' selected: True
	[10] button 'icon search'
		[11] img 'icon search'
	[12] button 'Book now'
	[14] generic 'More filters'
	[15] link 'Saved houses'
		[15] StaticText '3'
	[16] tab 'Trips' selected: False"""


def test_a_recorded_page_becomes_one_line_a_node_with_a_tab_a_level():
    assert accessibility_tree(parse(RECORDED)) == EXPECTED


def test_ids_of_lines_are_those_of_the_page_and_stay_when_it_changes():
    changed = RECORDED.replace("More   filters", "Fewer filters")
    before, after = (accessibility_tree(parse(page)).splitlines() for page in (RECORDED, changed))
    assert set(before) ^ set(after) == {"\t[14] generic 'More filters'", "\t[14] generic 'Fewer filters'"}
    known = {element.node_id for element in elements(parse(RECORDED))}
    assert {re.match(r"\t*\[(.+?)\] ", line)[1] for line in before} <= known


def test_names_with_quotes_and_line_ends_stay_on_one_line():
    root = parse('<html backend_node_id="1"><a backend_node_id="2" aria_label="it\'s&#10;here"/></html>')
    assert accessibility_tree(root).splitlines()[1] == '\t[2] link "it\'s here"'


def test_a_text_with_an_id_is_shown_with_it():
    root = parse('<html backend_node_id="1"><p backend_node_id="2"><text backend_node_id="3">Hello</text></p></html>')
    assert accessibility_tree(root) == "[1] RootWebArea ''\n\t[3] StaticText 'Hello'"


def test_a_page_nested_deeper_than_the_interpreter_may_recurse_is_rendered():
    xml = "".join(f'<div backend_node_id="{i}" role="tab">' for i in range(1_500)) + "</div>" * 1_500
    assert len(accessibility_tree(parse(xml)).splitlines()) == 1_500
