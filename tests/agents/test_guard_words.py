"""The guard's words on names of controls, in and out of forms, and how often they are wrong."""

import pytest

from agents.guard.judging import judge
from agents.types import Action
from annotations.dom.tree import parse
from tests.agents.guard_cases import FIRST, SECOND

PLACES = {
    "button": "<button {id}><text>{name}</text></button>",
    "form": '<form><input type="text" name="q"/><button {id}><text>{name}</text></button></form>',
    "link": "<a {id}><text>{name}</text></a>",
    "text": "<div {id}><text>{name}</text></div>",
}
WRONG = {  # what the words get wrong, so that whoever changes them sees what comes of it
    "pay button Make a donation",  # opens the form of one as often
    "pay form Add funds",  # "add" begins what is put into a basket
    "- form Order",  # of a list, and what orders as often
}
OTHER_KIND = {  # held, but called another kind of risk
    "pay form Proceed to payment and order",
    *("order form Checkout", "order form Check out", "order form Request booking", "send form Post question"),
}
CASES = [*FIRST.strip().splitlines(), *SECOND.strip().splitlines()]


def kind_of(place: str, name: str) -> str:
    """The kind of risk of pressing a control so called, `-` for none."""
    shown = PLACES[place].format(id='backend_node_id="4"', name=name)
    page = f'<html backend_node_id="1"><body backend_node_id="2"><main backend_node_id="3">{shown}</main></body></html>'
    risk = judge(parse(page), Action("CLICK", "4")).risk
    return risk.kind if risk else "-"


@pytest.mark.parametrize("case", CASES)
def test_a_name_is_held_where_it_does_what_cannot_be_taken_back(case: str) -> None:
    kind, place, name = case.split(" ", 2)
    found = kind_of(place, name)
    assert ((found == "-") == (kind == "-")) is (case not in WRONG)
    if "-" not in (found, kind):
        assert (found == kind) is (case not in OTHER_KIND)


def test_there_are_names_enough_of_both_sorts_in_every_place() -> None:
    assert len(CASES) == len(set(CASES)) >= 150
    assert set(CASES) >= WRONG | OTHER_KIND
    sorts = {(case.startswith("-"), case.split(" ", 2)[1]) for case in CASES}
    assert sorts == {(harmless, place) for harmless in (True, False) for place in PLACES}
