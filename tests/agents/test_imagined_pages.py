"""A page as it is expected to be: what is foretold is done to a copy, and what comes has ids of its own."""

import pytest

from agents.types import Action
from agents.world_model.effects import Effect, applied
from agents.world_model.imagined_pages import imagined_page, is_imagined
from agents.world_model.lines import PageLines
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.elements import elements
from annotations.dom.tree import parse
from tests.agents.test_policy import PAGE

FORM = """<html backend_node_id="1"><body backend_node_id="2">
<dialog backend_node_id="3" aria_label="Cookies">tail<text backend_node_id="4">We bake.</text>
<button backend_node_id="5"><text backend_node_id="6">Accept</text></button></dialog>after
<input backend_node_id="7" type="checkbox" aria_label="Step-free"/>
<input backend_node_id="8" type="radio" aria_label="One way" input_checked="true"/>
<textarea backend_node_id="9" aria_label="Notes"><text backend_node_id="10">none</text></textarea>
<p backend_node_id="11"><text>None chosen</text></p></body></html>"""


def tree_after(page: str, action: Action, *effects: Effect) -> str:
    root = parse(page)
    before = accessibility_tree(root)
    found = applied(effects, PageLines.of(before), action)
    after = accessibility_tree(imagined_page(root, found, action.node_id))
    assert accessibility_tree(root) == before, "the page itself stays as it is"
    return after


def test_what_is_typed_chosen_and_checked_is_on_the_page():
    typed = Effect("changed", "textbox", of="target", after={"value": "'⟨value⟩'"})
    assert "[5] textbox 'Harbour' required: False value: 'Bergen'" in tree_after(
        PAGE, Action("TYPE", "5", "Bergen"), typed
    )
    chosen = Effect("changed", "combobox", of="target", after={"value": "'⟨value⟩'"})
    after = tree_after(PAGE, Action("SELECT", "6", "Sailing dinghy"), chosen)
    assert "value: 'Sailing dinghy'" in after
    assert "[9] option 'Sailing dinghy' selected: True" in after
    assert "[7] option 'Kayak' selected: False" in after
    checked = Effect("changed", "checkbox", of="target", after={"checked": "true"})
    cleared = Effect("changed", "radio", "One way", before={"checked": "true"}, after={"checked": "false"})
    after = tree_after(FORM, Action("CLICK", "7"), checked, cleared)
    assert "[7] checkbox 'Step-free' checked: true" in after
    assert "[8] radio 'One way' checked: false" in after
    written = Effect("changed", "textbox", of="target", after={"value": "'⟨value⟩'"})
    assert "value: 'Nuts'" in tree_after(FORM, Action("TYPE", "9", "Nuts"), written)


def test_what_goes_is_gone_with_all_inside_of_it_and_the_text_behind_it_stays():
    root = parse(FORM)
    gone = applied([Effect("removed", "dialog", "Cookies")], PageLines.of(accessibility_tree(root)), Action("CLICK"))
    page = imagined_page(root, gone, "5")
    assert {element.get("backend_node_id") for element in page.iter("*")}.isdisjoint({"3", "4", "5", "6"})
    assert "after" in "".join(page.itertext())
    assert "We bake" not in "".join(page.itertext())


def test_texts_and_names_change():
    told = Effect("changed", "StaticText", "None chosen", renamed="A9D")
    assert "[11] StaticText 'A9D'" in tree_after(FORM, Action("CLICK", "5"), told)
    renamed = Effect("changed", "button", of="target", renamed="Reserved")
    after = tree_after(PAGE, Action("CLICK", "11"), renamed)
    assert "[11] button 'Reserved'" in after
    assert "Reserve'" not in after


@pytest.mark.parametrize(
    ("effects", "behind"),
    [
        ([], "11"),  # what was acted on
        ([Effect("removed", "link", "Imprint")], "11"),  # what was in the place before it went
    ],
)
def test_what_comes_can_be_found_named_and_acted_on_there_alone(effects, behind):
    coming = [Effect("added", role, name) for role, name in COMING]
    root = parse(PAGE)
    found = applied([*effects, *coming], PageLines.of(accessibility_tree(root)), Action("CLICK", "11"))
    page = imagined_page(root, found, "11")
    new = [element for element in elements(page) if is_imagined(element.node_id)]
    assert {(element.role, element.name) for element in new} >= set(COMING)
    assert [text for one in new if one.role == "combobox" for _, text in one.options] == ["Small", "Large"]
    order = [element.node_id for element in elements(page)]
    assert order[order.index(behind) + 1] == "imagined-1"
    again = imagined_page(page, found[-1:], "imagined-1")
    ids = [element.node_id for element in elements(again)]
    assert len(ids) == len(set(ids)), "what comes later has other ids"


COMING = [
    ("dialog", "Reserve a boat"),
    ("combobox", "Size"),
    ("option", "Small"),
    ("option", "Large"),
    ("textbox", "Name"),
    ("checkbox", "With skipper"),
    ("menuitem", "Help"),
]


def test_a_page_that_is_replaced_keeps_its_body():
    root = parse(PAGE)
    lines = PageLines.of(accessibility_tree(root))
    gone = [Effect("removed", line.role, line.name) for line in lines.lines]
    page = imagined_page(root, applied([*gone, Effect("added", "button", "Back")], lines, Action("CLICK", "13")), "13")
    assert "button 'Back'" in accessibility_tree(page)
    assert page.find("body") is not None
