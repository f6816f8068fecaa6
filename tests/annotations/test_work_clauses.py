"""Clauses of source instructions: each in one proposed part, as it was written; what no part asks for, or two do."""

import string
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotations.text.alike_words import placed_words
from annotations.work.decompose.clauses import (
    RecordedTask,
    clause_spans,
    clauses_of,
    continued,
    covered,
    recorded_tasks,
    slices,
)
from annotations.work.decompose.cuts import CutPart, SeenStep, each_clause_once, propose_cuts

BOOTS = "The boots. They are too small. Can I have the next size up instead?"
TASTE = st.sampled_from(
    [
        "find red shoes",
        "sort them by price",
        "add the cheapest to the cart",
        "The boots",
        "They are too small",
        "Can I have the next size up instead",
        "book a flight from Rome to Oslo for two adults and one child",
        "near St. Pancras station",
        "finde ein Hotel in Köln",
        "请 搜索 红色 鞋子",
        "then",
    ]
)
JOINS = st.sampled_from([". ", "? ", "! ", ", ", ", and ", " and ", " and then ", "; ", "\n", " ", ", then "])
PROSE = st.lists(st.tuples(TASTE, JOINS), min_size=1, max_size=8).map(lambda pairs: "".join(a + b for a, b in pairs))
NOISE = st.text(string.ascii_letters + " .,!?;\n“”é鞋0'", max_size=120)
INSTRUCTIONS = st.one_of(PROSE, NOISE)


def words(*texts: str) -> list[str]:
    """Without what stands between clauses."""
    return [word.key for text in texts for word in placed_words(text) if word.key not in ("and", "then")]


def seen(count: int, task: int = 0, first: int = 0) -> list[SeenStep]:
    said = ("shoes", "price", "cart", "boots", "size", "flight", "hotel", "nothing")
    return [
        SeenStep(first + n, task, "CLICK", f"[a]  {said[(first + n) % 8]} -> CLICK", "", None) for n in range(count)
    ]


@pytest.mark.slow
@given(st.lists(st.tuples(INSTRUCTIONS, st.integers(1, 6)), min_size=1, max_size=3), st.integers(1, 8))
def test_a_proposal_holds_every_word_of_the_source_once_and_in_order(tasks, wanted):
    steps: list[SeenStep] = []
    for number, (_, count) in enumerate(tasks):
        steps += seen(count, number, len(steps))
    texts = [text for text, _ in tasks]
    parts = propose_cuts(steps, texts, wanted)
    assert words(*(part.instruction for part in parts)) == words(*texts)


@given(INSTRUCTIONS, st.integers(1, 6), st.integers(2, 6))
def test_what_is_proposed_stands_in_the_source_as_it_was_written(text, count, wanted):
    parts = propose_cuts(seen(count), [text], min(wanted, count))
    source = " ".join(text.split())
    for part in parts if len(parts) > 1 else ():
        assert part.instruction.casefold() in source.casefold()


@given(INSTRUCTIONS)
def test_clauses_leave_out_nothing_but_what_stands_between_them(text):
    spans = clause_spans(text)
    assert words(*(text[start:end] for start, end in spans)) == words(text)
    assert spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.slow
@given(INSTRUCTIONS, st.lists(st.tuples(st.integers(0, 5), INSTRUCTIONS), max_size=6), st.booleans())
def test_no_clause_is_proposed_twice_whatever_a_model_says(text, said, whole):
    """`whole`: the model leaves the source in its first part and repeats its clauses after it."""
    steps = seen(6)
    given_texts = dict(said) | ({0: text} | dict(enumerate(clauses_of(text)[:5], 1)) if whole else {0: ""})
    proposed = [CutPart(step, (), given_texts.get(step, "")) for step in sorted(given_texts)]
    parts = each_clause_once(proposed, steps, [text])
    now = {part.step: part.instruction for part in parts if part.instruction}
    firsts = tuple(part.step for part in parts)
    if any(one.state == "doubled" for one in covered([RecordedTask(text, firsts)], given_texts)[0]):
        assert words(*(part.instruction for part in parts)) == words(text)
    else:
        said_so = [part.instruction if part.instruction.strip() else "" for part in proposed]  # spaces say nothing
        assert [part.instruction for part in parts] == said_so
    assert set(now) <= set(firsts)


def test_sentences_stay_sentences():
    assert clauses_of(BOOTS) == ["The boots", "They are too small", "Can I have the next size up instead?"]
    assert slices(BOOTS, [2, 1]) == ["The boots. They are too small.", "Can I have the next size up instead?"]
    proposed = [part.instruction for part in propose_cuts(seen(4), [BOOTS], 2)]
    assert " ".join(filter(None, proposed)) == BOOTS
    assert not any(", They" in said for said in proposed)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Book a table for two adults and one child under five", 1),
        ("Show boots, which should be red, and add the cheapest to the cart", 2),
        ("Find a hotel near St. Pancras station. Sort by price.", 2),
        ("Travel at 5 p.m. on Monday from Leeds", 1),
        ("Find shoes in size 9, red, leather", 1),
        ("Suche rote Schuhe. Sortiere sie nach dem Preis.", 2),
        ("", 1),
        ("   ", 1),
    ],
)
def test_only_sentences_and_requests_are_clauses(text, clauses):
    assert len(clause_spans(text)) == clauses


def states(text: str, *said: str) -> list[str]:
    (found,) = covered([RecordedTask(text, tuple(range(len(said))))], dict(enumerate(said)))
    return [clause.state for clause in found]


WISH = "Find red shoes, sort them by price and add the cheapest to the cart."


def test_a_decomposition_that_asks_for_all_has_no_fault():
    assert (
        states(WISH, "Find red shoes", "Sort the red shoes by price", "Add the cheapest shoe to the cart") == [""] * 3
    )
    assert states(WISH, "Look for shoes that are red", "Sort by price, then add the cheapest to my cart") == [""] * 3


def test_the_source_left_in_the_first_part_doubles_what_later_parts_ask_for():
    assert states(WISH, WISH, "Sort them by price", "Add the cheapest to the cart") == ["", "doubled", "doubled"]


def test_what_no_part_asks_for_is_uncovered():
    assert states(WISH, "Find red shoes", "Add the cheapest to the cart") == ["", "uncovered", ""]
    assert states(WISH) == ["uncovered"] * 3


def test_a_clause_divided_among_parts_is_covered():
    assert states("Book a flight and a hotel in Oslo", "Book a flight to Oslo", "Book a hotel there") == [""]


def test_the_parts_of_a_task_are_those_that_its_steps_are_in():
    steps = [(1, 7, "One"), (2, 7, "One"), (3, 8, "Two"), (4, 8, "Two")]
    assert recorded_tasks(steps, {1, 4}) == [RecordedTask("One", (1,)), RecordedTask("Two", (1, 4))]
    assert recorded_tasks(steps, {1, 3}) == [RecordedTask("One", (1,)), RecordedTask("Two", (3,))]


def session_states(tasks: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """The states of the clauses of tasks, given with what their parts say."""
    said: dict[int, str] = {}
    recorded = []
    for text, parts in tasks:
        firsts = tuple(range(len(said), len(said) + len(parts)))
        said |= dict(zip(firsts, parts, strict=True))
        recorded.append(RecordedTask(text, firsts))
    return [[clause.state for clause in clauses] for clauses in covered(recorded, said)]


SHOES, HOTEL = "Find red shoes in size nine.", "Book a hotel room in Oslo."


def test_a_clause_that_a_part_of_another_task_asks_for_again_is_doubled():
    assert session_states([(SHOES, [f"{SHOES} {HOTEL}"]), (HOTEL, [HOTEL])]) == [[""], ["doubled"]]
    assert session_states([(SHOES, [SHOES]), (HOTEL, [f"{HOTEL} {SHOES}"])]) == [["doubled"], [""]]
    assert session_states([(SHOES, [f"{SHOES} {HOTEL}"]), (HOTEL, [SHOES])]) == [["doubled"], ["uncovered"]]
    assert session_states([(SHOES, [HOTEL]), (HOTEL, [SHOES])]) == [["uncovered"], ["uncovered"]]
    assert session_states([("Thank you.", ["Thank you."]), (SHOES, ["Thank you, now find red shoes"])]) == [[""], [""]]


def test_tasks_may_have_one_clause_or_nearly_one():
    cheapest = "Show me the cheapest one of all."
    assert session_states([(cheapest, [cheapest]), (cheapest, [cheapest])]) == [[""], [""]]
    assert session_states([(cheapest, [f"{cheapest} {cheapest}"]), (cheapest, [cheapest])]) != [[""], [""]]
    blue = "Find blue shoes in size nine."
    assert session_states([(SHOES, [SHOES]), (blue, [blue])]) == [[""], [""]]
    assert session_states([(SHOES, [SHOES]), (blue, ["Now blue shoes in size nine, please"])]) == [[""], [""]]
    assert session_states([(f"{SHOES} {blue}", [SHOES, blue])]) == [["", ""]], "nor are those of one task doubled"
    assert session_states([(SHOES, [f"{SHOES} {blue}"]), (blue, [blue])]) == [[""], ["doubled"]]


def test_a_task_that_differs_in_one_word_is_not_asked_for_by_a_part_of_another():
    """Its own part says less of the first than it has words in common with the second."""
    first = (
        "Order ramipril and the inhaler for two months at Bridge Chemist and text 07700 555 204 when they are ready."
    )
    second = "Order cetirizine at Bridge Chemist."
    tasks = [RecordedTask(first, (1, 2)), RecordedTask(second, (3,))]
    said = {
        1: "Order ramipril and the inhaler for two months at Bridge Chemist.",
        2: "Text me when the medicines are ready.",
    }
    assert [one.state for task in covered(tasks, said | {3: second}) for one in task] == ["", ""]
    again = said | {1: f"{said[1]} {second}", 3: second}
    assert [one.state for task in covered(tasks, again) for one in task] == ["", "doubled"]


def test_a_part_that_says_a_clause_twice_doubles_it():
    assert states(SHOES, f"{SHOES} {SHOES}") == ["doubled"]
    assert states(f"{SHOES} {HOTEL}", SHOES, f"{HOTEL} book a hotel room in Oslo") == ["", "doubled"]
    assert states(f"{SHOES} {SHOES}", f"{SHOES} {SHOES}") == ["", ""], "the source says it twice"
    assert states("The boots. They are too small.", "The boots. They are too small, the same boots") == ["", ""]


def test_a_part_that_says_a_piece_of_an_undivided_clause_again_doubles_it():
    kettle = "Blorp a Fell Kettle and frobnicate it in Port Hallow."
    again = "Frobnicate it in Port Hallow."
    assert len(clauses_of(kettle)) == 1, "nothing in it begins as a request is known to"
    assert states(kettle, kettle, again) == ["doubled"]
    assert states(kettle, "Blorp a Fell Kettle.", again) == [""], "divided among two parts"
    shoes, socks = "Add the shoes in size nine to the cart.", "Add the socks in size nine to the cart."
    assert states(f"{shoes} {socks}", shoes, socks) == ["", ""], "each stands for its own"


MADE_UP = st.lists(st.text("bdfgklmnprstvz", min_size=4, max_size=7), min_size=4, max_size=7, unique=True)


@given(MADE_UP, MADE_UP)
def test_a_request_in_words_that_nobody_knows_cannot_be_asked_for_twice(first, second):
    assume(not {*first} & {*second})
    source = f"{' '.join(first)} and {' '.join(second)}"
    assert states(source, source, " ".join(second)) == ["doubled"]
    assert states(source, " ".join(first), source) == ["doubled"]


SESSIONS = st.lists(st.tuples(INSTRUCTIONS, st.integers(1, 6)), min_size=2, max_size=3)


@pytest.mark.slow
@given(SESSIONS, st.integers(2, 8))
def test_what_rules_propose_for_several_tasks_doubles_nothing(tasks, wanted):
    _, sources, said = proposed_session(tasks, wanted)
    assert all(clause.state != "doubled" for task in covered(sources, said) for clause in task)


@pytest.mark.slow
@given(SESSIONS, st.integers(2, 8), st.data())
def test_a_clause_that_is_added_to_any_part_of_a_session_is_doubled_and_taken_out_again(tasks, wanted, data):
    steps, sources, said = proposed_session(tasks, wanted)
    clauses = [clause.text for task in covered(sources, said) for clause in task]
    added = data.draw(st.sampled_from(clauses))
    assume(len(words(added)) >= 4)
    part = data.draw(st.sampled_from(sorted(said)))
    said[part] = f"{said[part]}\n{added}"
    assume(sum(len(placed_words(one)) for one in said.values()) < 150)
    assert any(clause.state == "doubled" for task in covered(sources, said) for clause in task)
    texts = [text for text, _ in tasks]
    parts = each_clause_once([CutPart(step, (), text) for step, text in said.items()], steps, texts)
    now = {one.step: one.instruction for one in parts if one.instruction}
    assert all(clause.state != "doubled" for task in covered(sources, now) for clause in task)


def proposed_session(
    tasks: Sequence[tuple[str, int]], wanted: int
) -> tuple[list[SeenStep], list[RecordedTask], dict[int, str]]:
    """The steps of a session, its recorded tasks, and what the parts of the proposal by rules say."""
    steps: list[SeenStep] = []
    for number, (_, count) in enumerate(tasks):
        steps += seen(count, number, len(steps))
    texts = [text for text, _ in tasks]
    said = {part.step: part.instruction for part in propose_cuts(steps, texts, wanted)}
    return steps, recorded_tasks(((step.key, step.task, texts[step.task]) for step in steps), said), said


@pytest.mark.timed
@pytest.mark.parametrize(
    "text", [", " * 5_000, ". a" * 3_000, "and " * 2_500, "a" * 10_000, ".”" * 5_000, "\n" * 10_000]
)
def test_hostile_instructions_take_no_time(text):
    begun = time.thread_time()
    covered([RecordedTask(text, (0, 1))], {0: text, 1: text})
    assert time.thread_time() - begun < 2


PERMIT = "Fill in the resident parking permit, zone A: an electric car, HB21 QRT, for twelve months from 8 June."
HALF = "An electric car, HB21 QRT, for twelve months from 8 June."
JACKETS = "Show me waterproof jackets under £150 in rust."


def test_half_a_clause_that_is_said_twice_is_doubled() -> None:
    """Within one part, in a second part of its task, and in a part of another task, in whatever order."""
    first = PERMIT.partition(":")[0]
    assert session_states([(PERMIT, [f"{PERMIT} {HALF}"])]) == [["doubled"]]
    assert session_states([(PERMIT, [first, f"{HALF} {HALF}"])]) == [["doubled"]]
    assert session_states([(JACKETS, [f"{JACKETS} {HALF}"]), (PERMIT, [PERMIT])]) == [[""], ["doubled"]]
    added = f"{HOTEL}, under £150, waterproof jackets in rust"
    assert session_states([(JACKETS, [JACKETS]), (HOTEL, [added])]) == [["doubled"], [""]]
    assert session_states([(PERMIT, [first, HALF]), (JACKETS, [JACKETS])]) == [[""], [""]], "the opposite"


def test_a_task_that_goes_on_in_words_of_its_own_doubles_nothing_of_another() -> None:
    """As people divided tasks of the sample: what one clause of their own says stands in two parts."""
    look, book = "Look at Quinta da Névoa from 3 to 6 July for 4 guests.", "Book Quinta da Névoa from 3 to 6 July."
    divided = ["Look at Quinta da Névoa.", "Choose 3 to 6 July for 4 guests."]
    assert session_states([(look, divided), (book, ["Take Quinta da Névoa.", "Book it from 3 to 6 July."])])[1] == [""]
    shells = "Put two Drizzle Shells in rust, size M, into the basket."
    other = "Take the Drizzle Shell in moss in size S and put it into the basket."
    assert session_states([(shells, [shells]), ("One Drizzle Shell in moss, size S.", [other])]) == [[""], [""]]


def test_a_part_that_says_the_rest_of_a_clause_stands_beside_it_and_one_that_says_none_does_not() -> None:
    """The verifier's table called both "No clause of the source"."""
    said = {
        1: PERMIT.partition(":")[0],
        2: "It is an electric car, HB21 QRT, for twelve months from 8 June.",
        3: "Pay.",
    }
    (clauses,) = covered([RecordedTask(PERMIT, (1, 2, 3))], said)
    assert [clause.parts for clause in clauses] == [(2,)]
    assert continued(clauses, said) == {1: 0}
