"""What is turned round is found by one word, as an agent would do the opposite; other wordings are not."""

import pytest

from annotations.work.decompose.invented import AskedFor

SHOP = (
    "Show waterproof jackets in rust under £150. "
    "Put two Drizzle Shells in size M into the basket and use the voucher RAIN10."
)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Hide waterproof jackets in rust under £150", "Hide"),
        ("Show waterproof jackets in rust over £150", "over"),
        ("Put two Drizzle Shells in size M into the basket and skip the voucher RAIN10", "skip"),
        ("Take two Drizzle Shells in size M out of the basket", "out of"),
        ("Use the voucher RAIN10 and pay", "pay"),
        ("Show the cheapest waterproof jackets in rust", "cheapest"),
        ("Use the voucher RAIN10, then cancel", "cancel"),
        ("Share the voucher RAIN10", "Share"),
    ],
)
def test_what_turns_a_task_round_is_found(text: str, word: str) -> None:
    assert AskedFor([SHOP]).lacks(text) == f"It says “{word}”, which no instruction of the source does."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (SHOP, "Search for waterproof jackets in rust below £150"),
        (SHOP, "List waterproof jackets in rust under £150"),
        (SHOP, "Take two Drizzle Shells in size M"),
        ("Book the room and pay by card", "Reserve the room"),
        ("Buy the boots", "Order the boots"),
        ("Report a pothole in Elm Road", "Send the report of the pothole in Elm Road"),
        ("Show the cheapest jacket by price", "Show the jacket with the lowest price"),
        ("Show jackets over £50 and under £150", "Show jackets under £150, over £50"),
        ("Show what goes out of stock", "Show what is out of stock"),
        ("Remove it from the list", "Delete it from the list"),
    ],
)
def test_another_wording_is_not(source: str, text: str) -> None:
    assert AskedFor([source]).lacks(text) == ""


@pytest.mark.parametrize(
    ("source", "text", "word"),
    [
        ("Find trains from Dunmere to Lindale", "Find trains from Lindale to Dunmere", "from"),
        ("Arrive before Friday", "Arrive after Friday", "after"),
        ("Pay it into my account", "Pay it into your account", "your"),
        ("Swap the old boots", "Swap the new boots", "new"),
    ],
)
def test_two_places_or_sides_are_not_exchanged(source: str, text: str, word: str) -> None:
    """All words are the source's."""
    assert AskedFor([source]).lacks(text) == f"It says “{word}”, which no instruction of the source does."
    assert AskedFor([source]).lacks(source) == ""
    assert AskedFor([source, text]).lacks(text) == "", "where another task asks for that"


def test_what_a_step_presses_may_be_said() -> None:
    assert "pay" in AskedFor([SHOP]).lacks("Use the voucher RAIN10 and pay")
    assert AskedFor([SHOP], pressed=["[button]  Pay now -> CLICK"]).lacks("Use the voucher RAIN10 and pay") == ""


def test_a_turn_may_refer_to_the_cheapest_of_those_it_was_shown() -> None:
    source = AskedFor(["Book a room in Oslo"])
    assert source.lacks("Book the cheapest room in Oslo", may_refer=True) == ""
    assert "cheapest" in source.lacks("Book the cheapest room in Oslo")
