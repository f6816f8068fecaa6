"""Proposed rewrites: what was said before is left out or referred to, and can always be found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.edits.warned import PartText
from annotations.work.rewrite.rewrites import propose_rewrites
from annotations.work.rewrite.warnings import check_rewrites

TICKETS = "Find concert tickets for Coldplay in Boston on June 3"


def said(*instructions: str) -> dict[int, str]:
    return {found.step: found.rewrite for found in propose_rewrites(list(enumerate(instructions, 1)))}


@pytest.mark.parametrize(
    ("second", "rewrite"),
    [
        ("Find concert tickets for Adele in Boston on June 3", "And for Adele in Boston on June 3"),
        ("Sort the concert tickets by price", "Sort them by price"),
        ("Show hotels in Boston", "Show hotels there"),
        ("Book a table on June 3", "Book a table on the same day"),
        ("Show restaurants in Boston on June 3", "Show restaurants there on the same day"),
    ],
)
def test_what_an_earlier_turn_says_is_left_out_or_referred_to(second, rewrite):
    assert said(TICKETS, second) == {2: rewrite}


@pytest.mark.parametrize(
    "second",
    [
        "Log out",
        "Sort the hotels by price",
        "Show hotels in Denver",
        "Book a table on June 4",
        "Find a concert hall",
        "",
    ],
)
def test_what_nobody_has_said_is_not_changed(second):
    assert said(TICKETS, second) == {}


# As rules had them said, into a release: each second turn keeps its words.
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Begin a parking permit for 12 Elm Road", "Fill in the parking permit for 14 Elm Road"),
        ("Claim a refund for June", "Have the refund for June paid into my account"),
        ("Claim a refund for June", "Send the receipt to me and send the claim"),
        ("Claim it for June", "Send the claim"),
        ("Show trains to Oslo", "Show only the trains without a change"),
        ("Show trains to Oslo", "Go back to all the trains of that Friday"),
        ("Book the first", "What are the conditions on the first one?"),
        ("Find trains to Oslo", "Find buses from Bergen to Oslo"),
        ("Put tents into the basket", "Now the basket."),
        ("Put tents into the basket", "Show me the basket and pay"),
        ("Take the Drizzle Shells", "Show the Drizzle Shell in moss"),
    ],
)
def test_no_sentence_is_broken_by_a_pronoun(first, second):
    assert said(first, second) == {}


@pytest.mark.parametrize(
    ("first", "second", "rewrite"),
    [
        (
            "Put tents into the basket",
            "Open the basket and try the voucher FELL10",
            "Open it and try the voucher FELL10",
        ),
        ("Return the boots", "Have a courier collect the boots on Monday", "Have a courier collect them on Monday"),
        ("Find the black bin", "Say that the black bin was in the yard", "Say that it was in the yard"),
    ],
)
def test_what_something_is_done_with_becomes_a_pronoun(first, second, rewrite):
    assert said(first, second) == {2: rewrite}


def test_whoever_is_asked_chooses_a_way_or_the_instruction_as_it_is():
    texts = [(1, "Show flights to Oslo on June 3"), (2, "Show flights to Oslo in June")]
    asked: list[tuple] = []

    def choose(earlier, wordings):
        asked.append((list(earlier), list(wordings)))
        return place

    chosen = {}
    for place in range(3):
        chosen[place] = [found.rewrite for found in propose_rewrites(texts, choose)]
    assert asked[0][0] == ["Show flights to Oslo on June 3"]
    assert asked[0][1][-1] == "Show flights to Oslo in June"
    assert chosen[0] == asked[0][1][:1]
    assert chosen[len(asked[0][1]) - 1] == []


def test_one_thing_is_it_and_several_are_them():
    assert said("Open the red bag", "Add the red bag to the cart") == {2: "Add it to the cart"}
    assert said("Open the red bags", "Add the red bags to the cart") == {2: "Add them to the cart"}


def test_marks_name_the_turn_and_the_place_that_they_stand_for():
    found = propose_rewrites([(7, TICKETS), (9, "Sort the concert tickets by price"), (11, "Show hotels in Boston")])
    (mention,) = found[0].mentions
    assert found[0].rewrite[mention["start"] : mention["end"]] == mention["text"] == "them"
    assert mention["antecedent"] == {"step": 7, "start": 5, "end": 20, "text": "concert tickets"}
    (mention,) = found[1].mentions
    assert (mention["antecedent"]["text"], mention["phenomenon"]) == ("Boston", "pronoun")


def test_an_ellipsis_marks_the_point_where_words_are_left_out():
    (found,) = propose_rewrites([(1, "Find flights to Boston"), (2, "Find flights to Denver")])
    (mention,) = found.mentions
    assert (found.rewrite, mention["start"], mention["end"], mention["text"]) == ("And to Denver", 3, 3, "")
    assert (mention["phenomenon"], mention["antecedent"]["text"]) == ("ellipsis", "Find flights")


WORDS = st.sampled_from(
    "Find Sort Open the the red blue shoes bag tickets to in on Boston New York June 3 by price".split()
)


@given(st.lists(st.lists(WORDS, max_size=9).map(" ".join), min_size=2, max_size=5))
def test_the_checks_have_nothing_against_what_is_proposed(instructions):
    numbered = list(enumerate(instructions, 1))
    found = {rewrite.step: rewrite for rewrite in propose_rewrites(numbered)}
    parts = [
        PartText(step, text, found[step].rewrite, found[step].mentions) if step in found else PartText(step, text, text)
        for step, text in numbered
    ]
    assert [w for w in check_rewrites(parts) if w.step in found and w.code not in ("unmarked", "unchanged")] == []
