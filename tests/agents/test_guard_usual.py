"""What the guard knows of controls as real websites make and word them: who ends a form, what is used at once, what
is not done yet."""

import pytest

from tests.agents.test_guard_fields import filled, form, held

TEXT = '<textarea backend_node_id="3" text_value="Dear Ida"/>'
EDITED = '<div backend_node_id="3" editable="true"><p><text>Draft of the plan</text></p></div>'


def button(name: str, attributes: str = "") -> str:
    return f"<button {{id}} {attributes}><text>{name}</text></button>"


def box(*parts: str) -> str:
    return f"<main><div>{''.join(parts)}</div></main>"


def said(text: str) -> str:
    return f"<p><text>{text}</text></p>"


@pytest.mark.parametrize(
    ("name", "attributes", "kind"),
    [
        ("Wonderful", 'method="post"', "order"),
        ("Wonderful", "", ""),
        ("Wonderful", 'method="get"', ""),
        ("Continue", 'method="post"', ""),
        ("Add to basket", 'method="post"', ""),
        ("Preview", 'method="post"', ""),
        ("Log in", 'method="post"', ""),
    ],
)
def test_a_form_that_is_posted_ends_something_unless_its_button_says_that_it_does_not(name, attributes, kind) -> None:
    assert (
        held(form('<input backend_node_id="3" name="colour" input_value="red"/>', name, attributes=attributes)) == kind
    )


@pytest.mark.parametrize(
    ("around", "name", "kind"),
    [
        ('role="dialog"', "Wonderful", "order"),
        ('role="dialog"', "Show more", ""),
        ('role="dialog"', "Stay here", ""),
        ('role="dialog"', "Yes", ""),
        ('class="card"', "Wonderful", ""),
    ],
)
def test_a_button_of_a_dialog_ends_it_but_to_leave_or_to_agree_to_nothing(around: str, name: str, kind: str) -> None:
    asked = said("The chairs are on their way to the second floor.")
    no = "<button><text>Not now</text></button>"
    assert held(f"<main><div {around}>{asked}{button(name)}{no}</div></main>") == kind
    assert held(f"<main><div {around}>{asked}{button(name)}</div></main>") == "", "one of the things to choose from"
    cookies = said("This page uses cookies for its chairs.")
    assert held(f"<main><div {around}>{cookies}{button(name)}{no}</div></main>") == ""


def test_what_sends_by_itself_or_is_drawn_as_a_danger_ends_something() -> None:
    for attributes, kind in (('sends="true"', "order"), ('class="btn btn-danger"', "order"), ('class="btn"', "")):
        assert held(box(said("Chairs"), button("Wonderful", attributes))) == kind
        assert held(box(said("Chairs"), button("Show more", attributes))) == ""


@pytest.mark.parametrize("text", [TEXT, EDITED])
def test_where_somebody_has_written_a_button_sends_it_without_a_form(text: str) -> None:
    assert held(f"<main>{text}<div>{button('Share')}</div></main>") == "send"
    assert held(f"<main>{text}<div>{button('Emoji')}</div></main>") == ""
    assert held(f"<main><div>{button('Share')}</div></main>") == ""


def test_what_is_written_is_not_what_the_page_says() -> None:
    assert held(box(EDITED, button("Send now"))) == "send"
    stays = said("Saved as a draft.")
    assert held(box(stays, button("Share it all"))) == ""


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("9 Castle Hill", "personal"),
        ("Mr Alan Frith", "personal"),
        ("0161 496 0777", "personal"),
        ("2025-01-31", ""),
        ("9 chairs", ""),
    ],
)
def test_what_stands_in_a_field_tells_whose_it_is(value: str, kind: str) -> None:
    assert held(form(f'<input backend_node_id="3" type="text" input_value="{value}"/>', "Add gift")) == kind


def test_without_a_button_that_hands_in_the_last_one_does() -> None:
    person = filled("Full name")
    parts = [person, '<div role="button" {id}><text>All answered</text></div>']
    assert held(f"<form>{''.join(parts)}</form>") == "personal"
    later = '<div role="button"><text>All done</text></div>'
    assert held(f"<form>{''.join(parts)}{later}</form>") == ""
    assert held(f"<form>{''.join(parts)}<button><text>Send</text></button></form>") == "", "another does"


@pytest.mark.parametrize(
    ("around", "value", "kind"),
    [
        (said("The payment of €9 by card goes through as soon as the code is complete."), "4481", "pay"),
        (said("The payment of €9 by card needs a code."), "4481", ""),
        (said("Approve payment. It goes through as soon as the code is complete."), "4481", "pay"),
    ],
)
def test_what_is_used_without_another_press_is_judged_as_it_is_typed_chosen_or_ticked(around, value, kind) -> None:
    assert held(box(around, '<input {id} type="text"/>'), "TYPE", value) == kind
    assert held(box(around, '<input {id} type="checkbox"/>')) == kind
    assert held(box(around, "<select {id}><option><text>4481</text></option></select>"), "SELECT", value) == kind


def test_enter_without_a_button_hands_in_who_is_typed_what_is_paid_and_what_is_ordered_of_a_machine() -> None:
    mail = '<form><input {id} type="email" placeholder="Your email for 10% off"/></form>'
    assert [held(mail, "TYPE", text) for text in ("ida@postbox.example\n", "ida@postbox.example")] == ["personal", ""]
    asked = said("Enter your password to buy it for £24.99 from your wallet.")
    paid = f"<form>{asked}<input {{id}} type='password'/></form>"
    assert held(paid, "TYPE", "secret\n") == "pay"
    console = box('<input {id} type="text" aria_label="Statement"/>')
    assert [held(console, "TYPE", text) for text in ("DROP TABLE old;\n", "SELECT 1;\n")] == ["delete", ""]


@pytest.mark.parametrize(
    ("name", "beside", "kind"),
    [
        ("Cancel flights", "Keep my booking", "delete"),
        ("Cancel items now", "Keep", "delete"),
        ("Cancel this payment", "Continue to pay €1,900", ""),
        ("Reject and send email", "Back", "send"),
    ],
)
def test_who_calls_off_what_is_not_done_yet_leaves_things_as_they_are(name: str, beside: str, kind: str) -> None:
    other = f"<button><text>{beside}</text></button>"
    assert held(box(said("Two of them"), other, button(name))) == kind


def test_a_no_to_somebody_who_waits_for_it_is_an_answer() -> None:
    assert held(box(said("Ida sent you an invitation."), button("Decline"))) == "send"
    assert held(box(said("We use cookies."), button("Decline"))) == ""


def test_the_first_of_several_steps_ends_nothing() -> None:
    assert held(box(button("Donate €15"))) == "pay"
    assert held(box(button("Donate €15"), said("Step 1 of 3, next: your details"))) == ""


@pytest.mark.parametrize(
    ("around", "label", "kind"),
    [
        ("", "Remove the lamp from basket", ""),
        ("cart-item", "Remove", ""),
        ("payment-item", "Remove", "delete"),
        ("cart-item", "Remove account", "delete"),
    ],
)
def test_what_is_taken_out_of_a_basket_can_be_put_back(around: str, label: str, kind: str) -> None:
    assert held(f'<main><div class="{around}"><text>A lamp</text>{button(label)}</div></main>') == kind


def test_a_choice_of_everybody_publishes_whatever_the_button_is_called() -> None:
    chosen = '<div class="radio {}"><text>Public</text></div><div class="radio"><text>Unlisted</text></div>'
    assert held(box(chosen.format("selected"), button("Done"))) == "publish"
    assert held(box(chosen.format(""), button("Done"))) == ""


def test_what_unfolds_a_part_of_the_page_passes() -> None:
    assert held(box(said("A photo"), button("Delete photo", 'aria_expanded="false"'))) == ""


def test_a_statement_that_all_is_done_on_a_press_is_no_reassurance() -> None:
    bound = said("New total €71.93, Visa 4471. Changes aren't sent until you press the button.")
    assert held(box(bound, button("Wonderful"))) == "pay"
    assert held(box(bound.replace(" until you press the button", " yet"), button("Wonderful"))) == ""


def test_a_form_that_only_leads_to_a_page_ends_nothing() -> None:
    for attributes, kind in (('method="get"', ""), ('method="post"', "order")):
        assert held(form('<input type="hidden" name="x"/>', "Check in online", attributes=attributes)) == kind


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Once you hand them in, you won’t be able to change them.", "Submit all and finish", "send"),
        ("Once you hand them in, you won't be able to change them.", "Submit all and finish", "send"),
        ("You won’t be charged.", "Wonderful", ""),
        ("You can’t undo this.", "Wonderful", "order"),
        ("Request £26.50 from Ida", "Request now", "send"),
        ("Commis chef, full time", "Post job", "publish"),
        ("Your membership ends on 28 May.", "Finish cancellation", "delete"),
        ("By continuing you enter a new contract.", "Switch to this tariff", "order"),
        ("By continuing you enter a new contract.", "Switch to dark mode", ""),
    ],
)
def test_what_is_said_with_any_apostrophe_and_in_more_words(text: str, name: str, kind: str) -> None:
    assert held(box(said(text), button(name))) == kind


def test_a_part_of_a_dialog_is_not_taken_for_the_dialog() -> None:
    buttons = f'<div class="modal__actions">{button("Yes")}<button><text>No</text></button></div>'
    assert held(f'<main><div role="dialog">{said("Delete this record?")}{buttons}</div></main>') == "delete"


def test_what_is_chosen_is_judged_where_a_change_takes_effect() -> None:
    page = "<div><select {id}><option><text>Private</text></option></select>{said}</div>"
    for told, kind in (("Changing this takes effect immediately.", "order"), ("Changing this is free.", "")):
        assert held(f"<main>{page.replace('{said}', said(told))}</main>", "SELECT", "Public") == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Post your answer", "publish"),
        ("Put my chairs online", "publish"),
        ("List tickets", "publish"),
        ("Order repeat prescription", "order"),
        ("Book with 2 credits", "order"),
        ("Reserve (60p)", "pay"),
        ("Reserve at 60p video", ""),
        ("List view", ""),
        ("Order by name", ""),
        ("Book with the chairs", ""),
    ],
)
def test_what_is_said_of_what_is_posted_ordered_and_priced_in_pence(name: str, kind: str) -> None:
    assert held(box(said("Two chairs"), button(name))) == kind


def test_what_is_turned_on_and_off_passes_unless_its_words_say_more() -> None:
    asked = form('<textarea backend_node_id="3" text_value="Dear Ida"/>', "Flag question")
    assert held(asked) == "send"
    assert held(asked.replace("{id}", "{id} type='button' aria_pressed='false'")) == ""
    assert held(box(button("Publish", "aria_pressed='false'"))) == "publish"


def test_what_keeps_a_form_for_later_or_goes_on_editing_hands_nothing_in() -> None:
    text = '<input backend_node_id="3" type="text" name="untaxed" input_value="214"/>'
    for name, kind in (("Save and come back later", ""), ("Save and continue", ""), ("Save", "personal")):
        assert held(form(text, name)) == kind
    assert held(form(filled("Full name"), "Save and continue")) == "personal", "of a person it hands in"
    asked = said("Discard post? Posting as Ida to everyone.")
    other = "<button><text>Discard</text></button>"
    assert held(f'<main><div role="dialog">{asked}{other}{button("Continue editing")}</div></main>') == ""


def test_a_summary_only_unfolds_its_details() -> None:
    assert held("<main><details><summary {id}><text>Delete all</text></summary></details></main>") == ""


def test_a_choice_that_a_button_applies_is_not_done_by_choosing() -> None:
    chosen = "<select {id}><option><text>Delete selected posts</text></option></select>"
    assert held(box(chosen), "SELECT", "Delete selected posts") == "delete"
    applied = box(chosen, '<button type="submit"><text>Go</text></button>')
    assert held(applied, "SELECT", "Delete selected posts") == ""
    at_once = applied.replace("{id}", "{id} onchange='submit'")
    assert held(at_once, "SELECT", "Delete selected posts") == "delete"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("Destroy this server", "You'll be asked to type its name before anything is destroyed.", ""),
        ("Destroy this server", "This takes a minute.", "delete"),
        ("Discard", "We ask you to confirm before that.", ""),
        ("Delete page 7 (Ctrl+Z brings it back)", "Chairs", ""),
        ("Delete page 7", "Chairs", "delete"),
        ("Delete line", "Chairs", ""),
        ("Cancel checked items", "You won't be able to reinstate this order.", "delete"),
        ("Send 2 invites", "Chairs", "send"),
    ],
)
def test_what_asks_first_or_is_undone_by_a_key_passes(name: str, text: str, kind: str) -> None:
    assert held(box(said(text), button(name))) == kind


def test_a_field_that_searches_asks_for_nothing_else() -> None:
    field = '<input {id} type="TYPE" placeholder="Comment or company"/>'
    assert held(box(field.replace("TYPE", "search")), "TYPE", "data analyst\n") == ""
    assert held(box(field.replace("TYPE", "text")), "TYPE", "data analyst\n") == "publish"


def test_what_is_chosen_and_used_immediately_is_judged_by_what_is_said() -> None:
    chosen = "<select {id}><option><text>Live</text></option></select>"
    once = said("Live jobs appear on the careers site immediately. Everyone can see them.")
    assert held(box(once, chosen), "SELECT", "Live") == "publish"
    assert held(box(said("Live jobs need an hour. Everyone can see them."), chosen), "SELECT", "Live") == ""


def test_what_will_not_be_charged_again_is_no_reassurance_and_a_link_that_acts_is_not_reassured():
    again = said("If you cancel today, you won't be charged again.")
    yet = said("You won't be charged yet.")
    away, here = (
        "<a {id} href='/next'><text>Delete account</text></a>",
        "<a {id} href='#'><text>Delete account</text></a>",
    )
    assert held(box(again, away)) == "delete"
    assert held(box(again, here)) == "delete"
    assert held(box(yet, here)) == "delete"
    assert held(box(yet, away)) == "", "it leads to where somebody decides"


def test_what_is_taken_out_of_a_list_passes_whatever_is_asked_after_it() -> None:
    asked = said("You'll be asked to confirm.")
    remove = button("Remove", "type='submit'")
    line = f"<main><form><div class='cart-item'>{asked}<input name='n' value='1'/>{remove}</div></form></main>"
    assert held(line) == ""
    assert held(line.replace("cart-item", "payment-item")) == "delete"
