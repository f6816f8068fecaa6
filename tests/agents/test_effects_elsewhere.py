"""Effects on a page in another state than that of the case: what makes no sense there is not foretold."""

import pytest

from agents.types import Action
from agents.world_model.effects import Effect, applied, effects_of, facts
from agents.world_model.lines import PageLines
from agents.world_model.predicting import Situation
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.differences import difference
from annotations.dom.tree import parse

COOKIES = (
    "[1] RootWebArea ''\n\t[2] main ''\n\t\t[3] button 'Find'\n\t[4] dialog 'Cookies'\n\t\t[5] StaticText 'We bake.'\n"
    "\t\t[6] button 'Essential only'\n\t\t[7] button 'Accept all'"
)
CLOSED = "[1] RootWebArea ''\n\t[2] main ''\n\t\t[3] button 'Find'"
SUGGESTED = (
    "[1] RootWebArea ''\n\t[2] textbox 'From' value: 'Ra'\n\t[3] listbox 'From suggestions'\n"
    "\t\t[4] option 'Ravensby' selected: False\n\t\t[5] option 'Rast' selected: False"
)


def told(before: str, after: str, action: Action) -> list[Effect]:
    """The effects as they are stored and read again."""
    found = effects_of(difference(before, after), PageLines.of(before), action)
    return [Effect.from_dict(one.to_dict()) for one in found]


def there(effects: list[Effect], page: str, action: Action) -> dict[str, int]:
    return dict(facts(applied(effects, PageLines.of(page), action)))


def test_what_closes_goes_with_all_that_is_in_it_whatever_it_is_called():
    found = told(COOKIES, CLOSED, Action("CLICK", "6"))
    assert [(one.what, one.of, one.role, one.name) for one in found] == [("removed", "around", "dialog", "")]
    other = "[1] RootWebArea ''\n\t[2] dialog 'Move your visit'\n\t\t[3] heading 'Move'\n\t\t[4] button 'Close'"
    assert there(found, other, Action("CLICK", "4")) == {
        "removed dialog 'Move your visit'": 1,
        "removed heading 'Move'": 1,
        "removed button 'Close'": 1,
    }
    chosen = SUGGESTED.split("\n\t[3]")[0].replace("'Ra'", "'Ravensby'")
    found = told(SUGGESTED, chosen, Action("CLICK", "4"))
    to = SUGGESTED.replace("From", "To").replace("'Ra'", "'Du'").replace("Ravensby", "Dunmere")
    assert there(found, to, Action("CLICK", "4")) == {
        "removed listbox 'To suggestions'": 1,
        "removed option 'Dunmere'": 1,
        "removed option 'Rast'": 1,
    }


def test_a_button_that_is_in_no_dialog_does_not_go_as_one_did_that_closed_one():
    found = told(COOKIES, CLOSED, Action("CLICK", "6"))
    more = "[1] RootWebArea ''\n\t[2] StaticText '1'\n\t[3] button 'More adults'"
    assert there(found, more, Action("CLICK", "3")) == {}


def test_what_stays_in_what_closes_is_told_one_by_one():
    kept = COOKIES.replace("\n\t\t[7] button 'Accept all'", "").replace("\n\t[4] dialog 'Cookies'", "")
    found = told(COOKIES, kept, Action("CLICK", "6"))
    assert "around" not in [one.of for one in found]


@pytest.mark.parametrize(
    ("role", "state", "after"),
    [
        ("checkbox", "checked: false", {"changed checkbox 'News' checked: true": 1}),
        ("checkbox", "checked: true", {"changed checkbox 'News' checked: false": 1}),
        ("radio", "checked: false", {"changed radio 'News' checked: true": 1}),
        ("radio", "checked: true", {}),
    ],
)
def test_a_click_turns_the_state_that_this_page_shows(role, state, after):
    before = f"[1] RootWebArea ''\n\t[2] {role} 'Bicycle' checked: false"
    found = told(before, before.replace("false", "true"), Action("CLICK", "2"))
    assert there(found, f"[1] RootWebArea ''\n\t[5] {role} 'News' {state}", Action("CLICK", "5")) == after


def test_what_was_chosen_before_is_not_taken_back_where_it_is_what_is_chosen_now():
    fares = (
        "[1] RootWebArea ''\n\t[2] option 'Saver' selected: {}\n\t[3] option 'Flex' selected: {}\n"
        "\t[4] option 'First' selected: {}"
    )
    found = told(fares.format(True, False, False), fares.format(False, True, False), Action("CLICK", "3"))
    again = there(found, fares.format(False, False, True), Action("CLICK", "2"))
    assert again == {"changed option 'Saver' selected: True": 1, "changed option 'First' selected: False": 1}


def test_of_two_groups_of_radio_buttons_the_own_one_is_changed():
    groups = (
        "[1] RootWebArea ''\n\t[2] radio 'Letter' checked: {}\n\t[3] radio 'Phone' checked: {}\n"
        "\t[4] heading 'Who'\n\t[5] heading 'For'\n\t[6] radio 'Me' checked: {}\n\t[7] radio 'A child' checked: {}"
    )
    here = groups.format("true", "false", "true", "false")
    found = told(here, groups.format("true", "false", "false", "true"), Action("CLICK", "7"))
    assert there(found, here.replace("Me", "My aunt"), Action("CLICK", "7")) == {
        "changed radio 'A child' checked: true": 1,
        "changed radio 'My aunt' checked: false": 1,
    }


LABELLED = """<html backend_node_id="1"><body backend_node_id="2"><label backend_node_id="3">
<input backend_node_id="4" type="checkbox"/><text backend_node_id="5">Step-free</text></label>
<button backend_node_id="6"><span backend_node_id="7"><text backend_node_id="8">Send</text></span></button>
<div backend_node_id="9"><p backend_node_id="10"/></div></body></html>"""


@pytest.mark.parametrize(
    ("clicked", "name"),
    [("3", "Step-free"), ("4", "Step-free"), ("7", "Send"), ("6", "Send"), ("10", ""), ("99", "")],
)
def test_a_click_on_a_label_or_an_icon_is_one_on_what_the_tree_shows_of_it(clicked, name):
    page = parse(LABELLED)
    asked = Situation.of("Do it.", page, Action("CLICK", clicked))
    assert asked.target.name == name
    assert asked.tree == accessibility_tree(page)


def test_what_is_chosen_already_stays_chosen():
    days = (
        "[1] RootWebArea ''\n\t[2] combobox 'Day'\n\t\t[3] option 'Mon' selected: {}\n\t\t[4] option 'Tue' selected: {}"
    )
    found = told(days.format(True, False), days.format(False, True), Action("SELECT", "2", "Tue"))
    other = days.replace("Mon", "Fri").replace("Tue", "Sat")
    assert there(found, other.format(True, False), Action("SELECT", "2", "Sat")) == {
        "changed option 'Fri' selected: False": 1,
        "changed option 'Sat' selected: True": 1,
    }
    assert there(found, other.format(True, False), Action("SELECT", "2", "Fri")) == {}
