"""The guard judges an action by what it does on a page: however a control is made, called and reached."""

import pytest

from agents.guard.judging import judge
from agents.types import Action
from agents.world_model.effects import Effect, Happening
from agents.world_model.predicting import Prediction
from annotations.dom.tree import parse

FORM = (
    '<form><input id="f" backend_node_id="5" type="text"/>{}'
    '<button backend_node_id="6"><text>Pay now</text></button></form>'
)
LONG = "<text>" + "A long button about the many good things that come with it. " * 4 + "Pay now</text>"


def held(body: str, operation: str = "CLICK", value: str = "", node: str | None = "4") -> str:
    """The kind of risk of an action on `{id}`, "" for none."""
    shown = body.replace("{id}", 'backend_node_id="4"')
    page = f'<html backend_node_id="1"><body backend_node_id="2">{shown}</body></html>'
    risk = judge(parse(page), Action(operation, node, value)).risk
    return risk.kind if risk else ""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<button {id}><text>Pay n\u00adow</text></button>", "pay"),
        ("<button {id}><text>P\u200bay\u00a0now</text></button>", "pay"),
        ("<button {id}><text>Ｐａｙ ｎｏｗ</text></button>", "pay"),
        ("<button {id}><b><text>P</text></b><b><text>ay n</text></b><text>ow</text></button>", "pay"),
        ('<button {id} read_as="Pay now"><b><text>Pay</text></b><b><text>n</text></b><text>ow</text></button>', "pay"),
        (f"<button {{id}}>{LONG}</button>", "pay"),
        ('<button {id} aria_label="Delete account"><text>X</text></button>', "delete"),
        ('<span id="a"><text>Delete account</text></span><button {id} aria_labelledby="a"/>', "delete"),
        ('<button {id}><img alt="Delete account"/></button>', "delete"),
        ("<button {id}><svg><title>Delete</title></svg></button>", "delete"),
        ('<button {id} title="Delete"/>', "delete"),
        ('<button {id} aria_label="Continue shopping"><text>Pay now</text></button>', "pay"),
        ('<main><button {id} aria_label="Book the blue room"><text>Book</text></button></main>', ""),
        *((f'<button {{id}} role="{role}"><text>Pay now</text></button>', "pay") for role in ("tab", "none", "img")),
        ('<main><div {id} role="Button"><text>Remove</text></div></main>', "delete"),
        ("<h3 {id}><text>Pay now</text></h3>", "pay"),
        ("<my-button {id}><text>Remove</text></my-button>", "delete"),
        ('<div has_handler="true"><text>Delete account</text><a {id}><text>Details</text></a></div>', "delete"),
        ('<div onclick="x()"><button><text>Delete</text></button><a {id}><text>Details</text></a></div>', ""),
        (
            '<div role="button"><text>Delete account</text><span role="link" {id}><text>Details</text></span></div>',
            "delete",
        ),
        ("<div {id}><button><text>Remove</text></button></div>", "delete"),
        ('<label {id} for="b"><text>Go</text></label><button id="b"><text>Pay now</text></button>', "pay"),
        ('<label {id} for="b"><text>Delete all</text></label><input id="b" type="checkbox"/>', ""),
    ],
)
def test_a_control_is_judged_by_all_that_it_is_called_however_it_is_made(body: str, kind: str) -> None:
    assert held(body) == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            '<form id="f"><input/></form><main><button {id} form="f"><text>Send message</text></button></main>',
            "send",
        ),
        ("<main><button {id}><text>Send message</text></button></main>", ""),
        ("<form><input/><table><tr><td><button {id}><text>Send</text></button></td></tr></table></form>", "send"),
        ('<form><input/><ul><li><button {id} type="button"><text>Book a room</text></button></li></ul></form>', ""),
    ],
)
def test_a_button_hands_in_the_form_that_it_belongs_to(body: str, kind: str) -> None:
    assert held(body) == kind


@pytest.mark.parametrize(
    ("written", "button", "kind"),
    [
        ("Delete your account? This cannot be undone.", "OK", "delete"),
        ("Pay EUR 300?", "Yes", "pay"),
        ("You are about to send 300 EUR to Ida.", "Continue", "send"),
        ("Your photos will be removed.", "Got it", "delete"),
        ("Delete your account? This cannot be undone.", "Cancel", ""),
        ("Delete your account?", "No, keep it", ""),
        ("Leave without saving?", "Yes", ""),
        ("Your parcel is on its way.", "OK", ""),
        ("Change it up to the day before for a small fee; no refund.", "Continue with Saver", ""),
        ("This page uses cookies. They can be deleted in the settings of your browser at any time.", "OK", ""),
    ],
)
@pytest.mark.parametrize(
    "around", ['<div role="dialog">{}</div>', "<dialog><div><div>{}</div></div></dialog>", "<div>{}</div>"]
)
def test_a_yes_is_judged_by_what_is_asked(around: str, written: str, button: str, kind: str) -> None:
    shown = around.format(f"<p><text>{written}</text></p><button {{id}}><text>{button}</text></button>")
    told = kind if "role" in around or "dialog" in around or button != "Continue" else ""  # no dialog, no question
    assert held(f"<main>{shown}</main>") == told


@pytest.mark.parametrize(
    ("operation", "value", "kind"),
    [
        ("TYPE", "Ann", ""),
        ("TYPE", "Ann\n", "pay"),
        ("TYPE", "Ann\nLee", "pay"),
        ("TYPE", "Ann\t ", "pay"),
        ("PRESS", "Enter", "pay"),
        ("PRESS", "\r", "pay"),
        ("PRESS", "Tab", ""),
    ],
)
def test_what_is_typed_counts_as_the_keys_that_it_presses(operation: str, value: str, kind: str) -> None:
    assert held(FORM, operation, value, "5") == kind
    without_number = held(FORM, operation, value, None)
    assert without_number == kind, "whatever has the focus"


def test_a_line_break_within_a_text_of_several_lines_hands_nothing_in() -> None:
    form = "<form><textarea {id}/><button><text>Send</text></button></form>"
    assert [held(form, "TYPE", text) for text in ("Dear Ida,\nyours", "Dear Ida\n")] == ["", "send"]


def test_a_button_is_pressed_by_the_keys_that_do_so_alone() -> None:
    button = "<button {id}><text>Pay now</text></button>"
    assert [held(button, "PRESS", key) for key in ("Space", " ", "Enter", "Tab", "a")] == ["pay", "pay", "pay", "", ""]


def test_enter_beside_a_button_without_a_form_does_what_the_button_does() -> None:
    assert held("<div><input {id}/><button><text>Send it</text></button></div>", "PRESS", "Enter") == "send"


@pytest.mark.parametrize(
    ("more", "value", "kind"),
    [("", "Delete account", "delete"), ("", "Large", ""), ('onchange="this.form.submit()"', "Large", "pay")],
)
def test_a_choice_is_judged_by_what_is_chosen_and_by_what_it_hands_in(more: str, value: str, kind: str) -> None:
    options = "".join(f"<option><text>{one}</text></option>" for one in ("Delete account", "Large"))
    assert held(FORM.replace("{}", f"<select {{id}} {more}>{options}</select>"), "SELECT", value) == kind


@pytest.mark.parametrize(
    ("body", "value", "kind"),
    [
        ("<div {id}><text>Slide to pay</text></div>", "40,0", "pay"),
        ("<div><text>Swipe to confirm</text><i {id}/></div>", "40,0", "order"),
        ("<div {id}><text>Photo</text></div><div backend_node_id='9'><text>Delete</text></div>", "9", "delete"),
        ("<div {id}><text>Volume</text></div>", "40,0", ""),
    ],
)
def test_what_is_pulled_is_judged_by_what_is_written_on_it_and_where_it_is_dropped(body, value, kind) -> None:
    assert held(body, "DRAG", value) == kind


def vanishing(*effects: Effect) -> Prediction:
    return Prediction(tuple(Happening(one, None, None) for one in effects), 0.9, 0.9)


@pytest.mark.parametrize(
    ("effects", "kind"),
    [
        ([Effect("removed", "row", "Ida's ticket")], "delete"),
        ([Effect("removed", "row", "Ida's ticket"), Effect("added", "status", "Gone")], "delete"),
        ([Effect("removed", "row", "One"), Effect("removed", "row", "Two")], ""),
        ([Effect("removed", "row", "One"), Effect("added", "heading", "Next page")], ""),
        ([Effect("removed", "dialog", "Sizes")], ""),
    ],
)
def test_one_row_that_is_foreseen_to_vanish_alone_is_a_deletion(effects: list[Effect], kind: str) -> None:
    page = parse('<html><button backend_node_id="4"><text>X</text></button></html>')
    risk = judge(page, Action("CLICK", "4"), prediction=vanishing(*effects)).risk
    assert (risk.kind if risk else "") == kind
