"""What a page says around a control of what will come of it holds the control, whatever it is called."""

import re
import time

import pytest

from agents.guard import beginnings, button_words, page_words, vocabulary
from agents.guard.consequences import LONGEST_NEAR
from tests.agents.test_guard_fields import held


def near(written: str, control: str, more: str = "") -> str:
    return f"<main>{more}<div><p><text>{written}</text></p>{control}</div></main>"


def button(name: str, attributes: str = "") -> str:
    return f"<button {{id}} {attributes}><text>{name}</text></button>"


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("EUR 4.60, Amex 1006", "pay"),
        ("€4.60 from your balance", "pay"),
        ("EUR 4.60", ""),
        ("Your card will be charged.", "pay"),
        ("Petra will be notified.", "send"),
        ("Goes to all 14 members.", "send"),
        ("Visible to everyone.", "publish"),
        ("Your photos will be deleted.", "delete"),
        ("Transfers can't be reversed.", "order"),
        ("By going on you accept the terms.", "order"),
        ("You can change it as often as you like.", ""),
        ("Chairs of the season", ""),
    ],
)
def test_any_button_is_held_where_the_page_says_what_comes_of_it(written: str, kind: str) -> None:
    assert held(near(written, button("Wonderful"))) == kind
    for name in ("Print a copy", "Not now", "See the details", "Edit", "Back"):
        assert held(near(written, button(name))) == "", name


def test_only_what_stands_near_counts() -> None:
    said = "Transfers can't be reversed."
    other = f"<form><p><text>{said}</text></p><input/></form>"
    assert held(near("Chairs", button("Wonderful"), more=other)) == "", "of another form"
    row = "<div><button><text>Wonderful</text></button></div>"
    assert held(f"<main><p><text>{said}</text></p>{row}<div>{button('Wonderful')}</div></main>") == "", "one of several"
    long = "There is much to say of chairs. " * 40 + said
    assert held(near(long, button("Wonderful"))) == "", "a text of its own"


def test_what_only_leads_to_where_one_decides_passes_but_no_paying_and_no_deleting() -> None:
    said = "You won't be charged yet. Review your trip on the next screen."
    assert [held(near(said, button(name))) for name in ("Reserve", "Pay", "Remove")] == ["", "pay", "delete"]
    assert held(near("Two nights", button("Reserve"))) == "order"
    ended = f"<form><input/><p><text>{said}</text></p>{button('Reserve')}</form>"
    assert held(ended) == "order", "it hands in a form"


def test_what_only_opens_something_passes() -> None:
    assert held(near("A photo", button("Delete photo"))) == "delete"
    for attributes in ('aria_haspopup="dialog"', 'opens="true"'):
        assert held(near("A photo", button("Delete photo", attributes))) == ""
    assert held(near("A photo", button("Delete photo", 'aria_haspopup="false"'))) == "delete"


def test_a_link_that_leads_nowhere_is_a_button() -> None:
    said = "Petra will be notified."
    for attributes, kind in (
        ('leads="false"', "send"),
        ('href="#"', "send"),
        ('href="javascript:void(0)"', "send"),
        ('href="/next"', ""),
        ('href="/next" sends="true"', "send"),
        ("", ""),
    ):
        assert held(near(said, f"<a {{id}} {attributes}><text>Wonderful</text></a>")) == kind, attributes


def test_who_is_invited_answers_with_a_no_too() -> None:
    assert held(near("Going? Petra will be notified.", button("No"))) == "send"
    assert held(near("Petra will be notified.", button("No"))) == ""


def test_a_dialog_is_told_by_its_class_too() -> None:
    said = "<p><text>Purge the data?</text></p>"
    for attributes, kind in (('class="mdc-dialog"', "delete"), ('class="modal fade"', "delete"), ('class="panel"', "")):
        assert held(f"<div {attributes}>{said}<div>{button('Proceed')}</div></div>") == kind, attributes


HOSTILE = (
    "card.",
    "a ",
    "not x ",
    "the ",
    " ",
    "to ",
    "by ing ",
    "your ",
    "1",
    "x@",
    "from your ",
    "we will tell ",
    "€1",
)


def test_no_text_makes_reading_it_slow() -> None:
    """`tests/test_patterns.py` reads patterns where they are written; those of tables are put together."""
    found = [one for module in (beginnings, button_words, page_words, vocabulary) for one in vars(module).values()]
    tables = [pattern for one in found if isinstance(one, dict) for pattern in one.values()]
    patterns = [one for one in (*found, *tables) if isinstance(one, re.Pattern)]
    assert len(patterns) > 40
    texts = [(one * LONGEST_NEAR)[:LONGEST_NEAR] for one in HOSTILE]
    for pattern in patterns:
        began = time.process_time()
        for text in texts:
            pattern.search(text)
        assert time.process_time() - began < 0.15, pattern.pattern[:80]
