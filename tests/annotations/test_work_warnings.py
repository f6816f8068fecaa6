"""What the checks of rewrites warn of, on requests as people make them: tickets, flights, shops."""

import time
from typing import Any

import pytest

from annotations.edits.warned import PartText
from annotations.sample.build import SCRIPTS, SITES, read_script
from annotations.sample.errand_script import ERRANDS, MARK, read_errands
from annotations.text.alike_words import alike, place_of, says
from annotations.work.decompose.warnings import check_instructions
from annotations.work.rewrite.said_again import check_said_again
from annotations.work.rewrite.warnings import check_rewrites

TICKETS = "Find concert tickets for Coldplay in Boston on June 3"


def parts(*turns: tuple[str, str], values: tuple[str, ...] = ()) -> list[PartText]:
    """Parts from (instruction, rewrite), numbered from 1; the values belong to the last one."""
    last = len(turns)
    return [PartText(n, said, rewrite, [], values if n == last else ()) for n, (said, rewrite) in enumerate(turns, 1)]


def codes(found: list) -> list[tuple[int, str]]:
    return [(warned.step, warned.code) for warned in found]


def marked(part: PartText, said: str, antecedent: Any = None, **changes: Any) -> PartText:
    """The part with its words `said` marked."""
    start = part.rewrite.index(said)
    mention = {"id": "m", "phenomenon": "pronoun", "start": start, "end": start + len(said), "text": said}
    mention |= {"antecedent": antecedent} | changes
    return PartText(part.step, part.instruction, part.rewrite, [mention], part.values)


def words_at(part: PartText, said: str) -> dict[str, Any]:
    start = part.rewrite.index(said)
    return {"step": part.step, "start": start, "end": start + len(said), "text": said}


# Good conversations: nothing to say about them.
@pytest.mark.parametrize(
    "turns",
    [
        [(TICKETS, TICKETS), ("Sort the Coldplay tickets in Boston by price", "Sort the tickets by price")],
        [(TICKETS, TICKETS), ("Find concert tickets for Adele in Boston on June 3", "And for Adele?")],
        [
            ("Book a flight from New York to Denver, 12 May", "I need to book a flight New York to Denver for 12 May"),
            ("Book a flight from Denver to New York on 19 May", "And the flight from Denver to New York on 19 May."),
        ],
        [
            ("Add the red running shoes in size 9 to the cart", "Add the red running shoes in size 9 to the cart."),
            ("Add the blue running shoes in size 9 to the cart", "The blue ones as well."),
            ("Check out the cart", "Check out."),
        ],
        [("Show the city's museums", "Which museums does the city have?"), ("Open the cheap museum", "The cheap one")],
    ],
)
def test_conversations_in_which_all_can_be_known_get_no_warning(turns):
    assert check_rewrites(parts(*turns)) == []


# Information that no earlier turn provides.
@pytest.mark.parametrize(
    ("turns", "places"),
    [
        ([(TICKETS, "Find concert tickets in Boston on June 3")], ["Coldplay"]),
        ([(TICKETS, TICKETS), ("Sort Adele tickets in Denver by price", "Sort by price")], ["Adele", "Denver"]),
        ([("Book a table for 4 at 19:30", "Book a table for 4")], ["19:30"]),
        ([("Fly to Oslo on 12 May", "Fly to Oslo"), ("Fly to Rome on 14 May", "Now to Rome in May")], ["12 May", "14"]),
        ([("Rent a car for 1,200 dollars", "Rent a car for 1200 dollars")], []),
        ([("Press Send in the menu, in the menu send", "Press in the menu")], ["Send"]),
        ([("Find the red shoes", "Find shoes"), ("Buy the red shoes", "Buy them")], ["red", "red"]),
    ],
)
def test_information_that_no_turn_says_is_found(turns, places):
    found = [warned for warned in check_rewrites(parts(*turns)) if warned.code in ("unsaid", "lost")]
    assert [turns[warned.step - 1][0][slice(*warned.span)] for warned in found] == places


# Numbers and names are asked about where nothing refers to them; a number also where what it counts is said.
@pytest.mark.parametrize(
    ("instruction", "rewrite", "is_lost"),
    [
        ("Put two Drizzle Shells in rust into the basket", "Put Drizzle Shells in that colour into the basket", True),
        ("Put two Drizzle Shells in rust into the basket", "Put them in that colour into the basket", False),
        ("Take the slot of Dr Nowicki at 11:10", "Take that", False),
        ("Show the times of Dr Nowicki", "When does he have time?", False),
        ("Show the times of Dr Nowicki", "Show the times", True),
        ("Take the seat and accept", "Take the seat", False),
    ],
)
def test_a_number_or_a_name_that_nothing_refers_to_is_lost(instruction, rewrite, is_lost):
    found = {warned.code for warned in check_rewrites(parts(("Show rust", "Show rust"), (instruction, rewrite)))}
    assert ("lost" in found) == is_lost


# A value that can no longer be resolved.
@pytest.mark.parametrize(
    ("turns", "values", "lost"),
    [
        ([("Search for red shoes", "Search for shoes")], ("red shoes",), ["red shoes"]),
        ([("Search for red shoes", "Search for red shoes")], ("red shoes",), []),
        ([("Search for red shoes", "Search for red shoes"), ("Type red shoes again", "Again")], ("red shoes",), []),
        ([("Ship it to 12 Elm Street", "Ship it to my address")], ("12 Elm Street",), ["12 Elm Street"]),
        ([("Ship it home", "Ship it home")], ("12 Elm Street",), []),  # no instruction said it: nothing was lost
        ([("Sort by price", "Sort")], ("",), []),
        ([("2 adults and 1 child", "2 adults")], ("2", "1"), ["1"]),
    ],
)
def test_values_that_nobody_can_know_any_more_are_found(turns, values, lost):
    found = [warned for warned in check_rewrites(parts(*turns, values=values)) if warned.code == "value-lost"]
    assert [turns[warned.step - 1][0][slice(*warned.span)] for warned in found] == lost


def test_a_lost_value_is_told_once():
    found = check_rewrites(parts(("Search for red shoes in Boston", "Search"), values=("red shoes",)))
    assert codes(found) == [(1, "value-lost"), (1, "lost")]
    assert "Boston" in found[1].text
    assert "shoes" not in found[1].text


PERMIT = "Begin a resident parking permit for 12 Ropemaker Lane, in zone A, without cookies."


@pytest.mark.parametrize(
    ("turns", "again"),
    [
        ([(PERMIT, PERMIT), ("Fill in the name Ada Lowe.", f"Then fill in the name Ada Lowe. {PERMIT}")], 2),
        ([(PERMIT, f"{PERMIT} Fill in the name Ada Lowe."), ("Fill in the name Ada Lowe.", "The name Ada Lowe")], 1),
        (
            [
                ("Buy a Fell Kettle and collect it in Port Hallow.",) * 2,
                ("Buy five mugs.", "Buy five mugs. Collect it in Port Hallow."),
            ],
            2,
        ),
        ([(PERMIT, "I need one."), ("Fill in the name Ada Lowe.", f"The name is Ada Lowe. {PERMIT}")], None),  # moved
        (
            [(PERMIT, PERMIT), ("Fill in the street, 12 Ropemaker Lane.", "Fill in the street, 12 Ropemaker Lane.")],
            None,
        ),
        ([(PERMIT, PERMIT), (f"{PERMIT} Again.", f"{PERMIT} Again.")], None),  # asked for twice by two tasks
    ],
)
def test_a_clause_that_two_turns_ask_for_is_warned_of_where_it_is_not_its_own(turns, again):
    found = [warned.step for warned in check_rewrites(parts(*turns)) if warned.code == "said-again"]
    assert found == ([again] if again else [])


def test_no_rewrite_of_the_sample_and_none_of_its_turns_says_again_what_another_one_asks_for():
    scripts = [script for website in SITES for script in read_script(SCRIPTS / f"{website}.txt")]
    talks = [[(turn.instruction,) * 2 for turn in script.turns] for script in scripts]
    for name in ("finished", "half"):
        for errand in read_errands(ERRANDS / f"{name}.txt"):
            talks.append([(p.instruction, MARK.sub(r"\1", p.said) or p.instruction) for p in errand.parts])
    assert sum(map(len, talks)) >= 200
    found = [warned for talk in talks for warned in check_rewrites(parts(*talk)) if warned.code == "said-again"]
    assert found == []


# A rewrite that changes nothing although it could.
@pytest.mark.parametrize(
    ("second", "rewrite", "unchanged"),
    [
        ("Sort the Coldplay tickets by price", "Sort the Coldplay tickets by price", True),
        ("Sort the Coldplay tickets by price", "sort the coldplay tickets by price!", True),
        ("Sort the Coldplay tickets by price", "Sort the tickets by price", False),
        ("Log out", "Log out", False),
    ],
)
def test_a_rewrite_that_changes_nothing_is_found(second, rewrite, unchanged):
    found = check_rewrites(parts((TICKETS, TICKETS), (second, rewrite)))
    assert ("unchanged" in {warned.code for warned in found}) == unchanged


def test_the_first_turn_may_read_as_its_instruction():
    assert check_rewrites(parts((TICKETS, TICKETS))) == []


# Antecedents.
def test_an_antecedent_that_exists_gets_no_warning():
    first, second = parts((TICKETS, TICKETS), ("Sort the tickets by price", "Sort them by price"))
    assert check_rewrites([first, marked(second, "them", words_at(first, "concert tickets"))]) == []


@pytest.mark.parametrize(
    ("antecedent", "why"),
    [
        (None, "has no antecedent yet"),
        ({"step": 9, "start": 0, "end": 4, "text": "Find"}, "not there any more"),
        ({"step": 1, "start": 5, "end": 12, "text": "tickets"}, "does not say any more"),
        ({"step": 1, "start": 500, "end": 507, "text": "tickets"}, "does not say any more"),
        ({"step": 1, "start": 0, "end": 0, "text": ""}, "does not say any more"),
        ({"step": 2, "start": 0, "end": 9, "text": "Sort them"}, "points to itself"),
        ({"step": 3, "start": 0, "end": 3, "text": "Buy"}, "turn 3, which comes later"),
    ],
)
def test_an_antecedent_that_does_not_exist_is_found(antecedent, why):
    first, second, third = parts(
        (TICKETS, TICKETS), ("Sort the tickets by price", "Sort them by price"), ("Buy two", "Buy two")
    )
    found = check_rewrites([first, marked(second, "them", antecedent), third])
    assert codes(found) == [(2, "no-antecedent")]
    assert why in found[0].text
    assert found[0].span == (5, 9)


def test_a_mention_whose_words_are_gone_is_found():
    (part,) = parts(("Sort the tickets", "Sort the tickets"))
    gone = marked(part, "tickets", None, text="them")
    assert codes(check_rewrites([gone])) == [(1, "mention-changed")]


def test_pronouns_without_a_mark_are_found_and_those_that_stand_for_nothing():
    found = check_rewrites(parts(("Book the hotel", "Book it: the hotel"), ("Pay the hotel", "Pay it, the hotel")))
    assert [(w.step, w.code, w.span) for w in found] == [(1, "unmarked", (5, 7)), (2, "unmarked", (4, 6))]
    assert codes(check_rewrites(parts(("See the hotel", "See it, the hotel")))) == [(1, "no-antecedent")]


def test_parts_without_a_rewrite_are_passed_over():
    assert check_rewrites(parts((TICKETS, ""), ("Sort them", ""))) == []


# Decompositions.
def test_an_instruction_must_ask_for_what_its_steps_enter():
    tasks = ["Search for red shoes and sort them by price"]
    good = [PartText(1, "Search for red shoes", values=("red shoes",)), PartText(2, "Sort by price", values=("price",))]
    assert check_instructions(good, tasks) == []
    late = [PartText(1, "Search", values=("red shoes",)), PartText(2, "Sort red shoes by price", values=("price",))]
    assert codes(check_instructions(late, tasks)) == [(1, "value-lost")]
    assert check_instructions([PartText(1, "Search", values=("boots",))], tasks) == [], "nor does the task say it"
    assert check_instructions([PartText(1, "", values=("red shoes",))], tasks) == [], "nothing is written yet"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("shoe", "shoes", True),
        ("cheap", "cheapest", True),
        ("book", "booking", True),
        ("price", "priced", True),
        ("hotel", "hostel", False),
        ("station", "statue", False),
        ("12", "123", False),
        ("may", "march", False),
        ("new", "york", False),
        ("coldplay", "coldplay", True),
    ],
)
def test_forms_of_one_word_are_told_by_its_beginning(a, b, same):
    assert alike(a, b) == alike(b, a) == same


def test_values_are_found_as_words_not_as_letters():
    assert says("two tickets to Rome", "Rome")
    assert not says("two tickets to Romeo", "Rome, Italy")
    assert not says("12 people", "1")
    assert place_of("from New York to Denver", "new york") == (5, 13)
    assert place_of("York is new", "new york") is None


@pytest.mark.timed
def test_long_texts_are_checked_in_time():

    long = " ".join(f"word{n}" for n in range(450))
    found = [PartText(n, long, long.replace("word", f"{chr(97 + n)}ther"), values=(long,)) for n in range(12)]
    begun = time.thread_time()
    assert check_rewrites(found)
    assert time.thread_time() - begun < 1


def test_garbled_punctuation_is_warned_of_where_no_source_has_it():
    found = check_instructions(parts(("Find shoes, , and buy them", "")), ["Find shoes and buy them"])
    assert codes(found) == [(1, "garbled")]
    assert check_instructions(parts(("Find shoes, , and", "")), ["Find shoes, , and"]) == []


def test_two_hundred_turns_that_are_alike_are_compared_at_once():
    said = "Find the blue shoes number {} in size nine and put them into the basket of customer {}."
    more = " Please look at the other things there as well, Sir."
    turns = [(said.format(n, n), said.format(n, n) + more) for n in range(200)]
    started = time.perf_counter()
    assert check_said_again(parts(*turns)) == []
    assert time.perf_counter() - started < 1.5  # 0.1 s; 3.2 s where each pair is compared word by word
