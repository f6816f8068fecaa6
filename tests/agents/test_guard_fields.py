"""What a form hands in is told by its filled fields, whatever its button is called."""

import pytest

from agents.guard.judging import judge
from agents.types import Action
from annotations.dom.tree import parse

PERSON = '<label for="a"><text>{}</text></label><input id="a" backend_node_id="3" type="{}" input_value="{}"/>'


def held(body: str, operation: str = "CLICK", value: str = "", node: str = "4") -> str:
    """The kind of risk of an action on `{id}`, "" for none."""
    shown = body.replace("{id}", 'backend_node_id="4"')
    page = f'<html backend_node_id="1"><body backend_node_id="2">{shown}</body></html>'
    risk = judge(parse(page), Action(operation, node, value)).risk
    return risk.kind if risk else ""


def form(field: str, button: str, more: str = "", attributes: str = "") -> str:
    return f"<form {attributes}>{more}{field}<button {{id}}><text>{button}</text></button></form>"


def filled(label: str, kind: str = "text", value: str = "something") -> str:
    return PERSON.format(label, kind, value)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        *((one, "text") for one in ("First name", "Full name", "Passenger 1: surname", "Name on card", "Your name")),
        *((one, "text") for one in ("Address line 1", "Date of birth", "Passport number", "National Insurance number")),
        *((one, "text") for one in ("Card number", "IBAN", "Allergies", "Annual income", "Driving licence number")),
        *(("", one) for one in ("email", "tel")),
    ],
)
def test_whatever_hands_in_who_somebody_is_is_held(label: str, kind: str) -> None:
    for button in ("Go to the last step", "Continue", "See you there", "Ready when you are"):
        assert held(form(filled(label, kind), button)) == "personal", button
        assert held(form(filled(label, kind, ""), button)) == "", "nothing stands in it"


@pytest.mark.parametrize("label", ["Project name", "File name", "Colour", "Quantity", "Web address", "Where to?"])
def test_what_is_about_things_is_handed_in_freely(label: str) -> None:
    assert held(form(filled(label), "Continue")) == held(form(filled(label), "Make it")) == ""


@pytest.mark.parametrize(
    "button", ["Back", "Cancel", "Close", "Clear", "Reset", "Find address", "Look up", "Edit", "Add another traveller"]
)
def test_what_leaves_a_form_or_only_looks_something_up_passes(button: str) -> None:
    assert held(form(filled("Full name") + filled("E-mail", "email"), button)) == ""


@pytest.mark.parametrize(("button", "kind"), [("See my quote", "personal"), ("See all rooms", "")])
def test_who_asks_for_an_offer_to_a_person_hands_the_person_in(button: str, kind: str) -> None:
    assert held(form(filled("Date of birth"), button)) == kind


def test_names_of_fields_are_read_as_they_are_written_in_code() -> None:
    for name in ("firstName", "first_name", "guest[0].first-name", "billing-phone"):
        field = f'<input backend_node_id="3" type="text" name="{name}" value="x"/>'
        assert held(form(field, "All done here")) == "personal", name
    field = '<input backend_node_id="3" type="text" name="f1" autocomplete="given-name" value="x"/>'
    assert held(form(field, "All done here")) == "personal"


def test_who_signs_in_is_known_already() -> None:
    secret = '<input type="password" backend_node_id="8" input_value="x"/>'
    mail = filled("E-mail", "email")
    assert held(form(mail + secret, "Continue")) == ""
    assert held(form(mail, "Next", "<h2><text>Sign in</text></h2>")) == ""
    assert held(form(mail + secret + filled("Full name"), "Continue")) == "personal", "who signs up is not"
    assert held(form(mail + secret.replace("/>", ' autocomplete="new-password"/>'), "Continue")) == "personal"


def test_a_form_that_only_looks_something_up_says_so() -> None:
    for attributes in ('role="search"', 'method="get"'):
        assert held(form(filled("Surname"), "Go on then", attributes=attributes)) == ""
    assert held(form(filled("Surname"), "Go on then", attributes='method="post"')) == "personal"


def test_what_is_typed_and_entered_counts_as_filled() -> None:
    empty = form(filled("E-mail", "email", ""), "News to my inbox")
    assert [held(empty, "TYPE", text, "3") for text in ("ida@postbox.example", "ida@postbox.example\n")] == [
        "",
        "personal",
    ]


def test_a_button_that_only_acts_on_the_page_hands_nothing_in() -> None:
    acts = "<form>" + filled("Full name") + '<button {id} type="button"><text>Larger text</text></button></form>'
    assert held(acts) == ""
    assert held(acts.replace('type="button"', 'submits="false"')) == ""
    assert held(acts.replace('type="button"', 'type="submit"')) == "personal"


@pytest.mark.parametrize(
    ("placeholder", "kind"),
    [("Add a comment…", "publish"), ("Type a message", "send"), ("Search messages", ""), ("New item", "")],
)
def test_enter_sends_what_a_chat_has_no_button_for(placeholder: str, kind: str) -> None:
    box = f'<main><div><input {{id}} type="text" placeholder="{placeholder}"/></div></main>'
    assert held(box, "TYPE", "Hello\n") == kind
    assert held(box, "TYPE", "Hello") == ""


@pytest.mark.parametrize(
    ("written", "button", "kind"),
    [
        ("Order summary: 2 chairs", "Order with obligation", "order"),
        ("Total due EUR 40.00", "Subscribe", "personal"),
        ("Total due EUR 40.00", "Proceed to checkout", ""),
        ("This offer cannot be refunded.", "Reserve it all", "order"),
        ("Chairs of the season", "Order chairs", ""),
    ],
)
def test_below_a_sum_a_button_ends_what_elsewhere_it_opens(written: str, button: str, kind: str) -> None:
    assert held(
        f"<main><div><p><text>{written}</text></p><button {{id}}><text>{button}</text></button></div></main>"
    ) == (kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("Review &amp; submit", "send"), ("Yes, confirm", "order"), ("Decline offer", "send"), ("Decline", "")),
        *(("Hold for 24 hours", "order"), ("Secure my seat", "order"), ("Join waiting list", "order")),
        *(("Drag and drop files", ""), ("Terms and conditions", ""), ("Remove from wish list", "")),
    ],
)
def test_each_part_of_a_name_is_read(name: str, kind: str) -> None:
    assert held(f"<main><button {{id}}><text>{name}</text></button></main>") == kind


def test_a_control_without_a_name_is_called_as_its_picture_is() -> None:
    assert held('<main><button {id}><i class="icon icon-trash"/></button></main>') == "delete"
    assert held('<main><button {id}><i class="icon icon-star"/></button></main>') == ""
