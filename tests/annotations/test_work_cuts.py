"""Proposed cuts: at changes of the page, after forms, between tasks; and the words that ask for each part."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.work.decompose.clauses import clauses_of, said_by
from annotations.work.decompose.cuts import SeenStep, face_of, propose_cuts
from tests.annotations.sample_cuts import sample_conversations

ASKED = "Look here. Then look there. Next look left. At last look right."  # for as many parts as these tests want
HOME = face_of("<html><title>Shop</title><a>Shoes</a><a>Bags</a><a>Coats</a></html>")
LIST = face_of("<html><title>Results</title><a>Red shoe</a><a>Blue shoe</a><p>Sort by</p></html>")
ITEM = face_of("<html><title>Red shoe</title><button>Add to cart</button><p>Size</p></html>")


SAID = st.one_of(
    st.sampled_from(["Find red shoes.", "Sort them by price, then buy the cheapest.", "Next", "And", "Go to link 2."]),
    st.text("abc .,;?!\n", min_size=1, max_size=30).map(lambda text: f"say {text}"),
)


def step(key: int, operation: str, text: str, value: str = "", face=HOME, task: int = 0) -> SeenStep:
    return SeenStep(key, task, operation, f"[x]  {text} -> {operation}", value, face)


SHOPPING = [
    step(1, "TYPE", "Search field", "red shoes"),
    step(2, "CLICK", "Search"),
    step(3, "SELECT", "Sort by", "price", LIST),
    step(4, "CLICK", "Red shoe, cheapest", face=LIST),
    step(5, "SELECT", "Size", "9", ITEM),
    step(6, "CLICK", "Add to cart", face=ITEM),
]


def test_cuts_lie_where_the_page_changes_and_forms_are_sent():
    parts = propose_cuts(SHOPPING, ["Search for red shoes, sort them by price and add size 9 to the cart"], 3)
    assert [part.step for part in parts] == [1, 3, 5]
    assert parts[1].why == ("another page", "a form was sent", "other words")
    assert [part.instruction for part in parts] == [
        "Search for red shoes",
        "Sort them by price",
        "Add size 9 to the cart",
    ]


BOOKING = [
    step(1, "TYPE", "From", "Arlen"),
    step(2, "CLICK", "Arlen Bridge"),
    step(3, "TYPE", "To", "Westmere"),
    step(4, "CLICK", "Westmere"),
    step(5, "CLICK", "Going out"),
    step(6, "CLICK", "Friday 12 June"),
    step(7, "CLICK", "Find trains"),
    step(8, "CLICK", "Direct trains only", face=LIST),
    step(9, "SELECT", "Sort by", "Cheapest first", LIST),
    step(10, "CLICK", "The 10:40", face=LIST),
]


@pytest.mark.parametrize(("wanted", "first"), [(2, [1, 8]), (3, [1, 8, 10]), (4, [1, 8, 9, 10])])
def test_a_form_that_is_filled_in_stays_one_part_however_many_are_wanted(wanted, first):
    assert [part.step for part in propose_cuts(BOOKING, [ASKED], wanted)] == first


def test_what_a_page_has_of_its_own_or_nobody_sends_is_no_form():
    steps = [step(1, "TYPE", "Notes", "a"), *[step(n, "CLICK", f"Tab {n}") for n in range(2, 5)]]
    other = [step(1, "TYPE", "Notes", "a"), *[step(n, "CLICK", "Find", face=LIST) for n in range(2, 5)]]
    assert [len(propose_cuts(some, [ASKED], 4)) for some in (steps, other)] == [4, 4]
    assert [part.step for part in propose_cuts(other, [ASKED], 2)][1] == 2


def test_no_more_parts_are_proposed_than_there_are_clauses_to_give():
    (part,) = propose_cuts(BOOKING, ["Which of them is direct and the cheapest, the 10:40?"], 3)
    assert part.instruction == "Which of them is direct and the cheapest, the 10:40?"
    two = propose_cuts(BOOKING, ["Show me the direct trains to Westmere. Which is the cheapest?"], 3)
    assert [(part.step, part.instruction) for part in two] == [
        (1, "Show me the direct trains to Westmere."),
        (9, "Which is the cheapest?"),
    ]


def test_a_part_whose_steps_share_no_word_with_a_clause_gets_one_too():
    """Both clauses have words of the second part alone."""
    steps = [step(1, "CLICK", "Menu"), step(2, "CLICK", "Jackets"), step(3, "CLICK", "Red shoe", face=ITEM)]
    parts = propose_cuts(steps, ["Open the red shoe. Take that shoe in red."], 2)
    assert [(part.step, part.instruction) for part in parts] == [
        (1, "Open the red shoe."),
        (3, "Take that shoe in red."),
    ]


def test_cuts_lie_where_the_words_of_clauses_change_though_the_page_changes_elsewhere():
    steps = [
        step(1, "CLICK", "Jackets"),
        step(2, "CLICK", "Jackets for women", face=LIST),
        step(3, "CLICK", "Drizzle Shell", face=LIST),
        step(4, "SELECT", "Quantity", "2", face=LIST),
        step(5, "TYPE", "Discount code", "SPRING", face=LIST),
    ]
    parts = propose_cuts(steps, ["Look at jackets for women. Take 2 of the Drizzle Shell. Use the code SPRING."], 3)
    assert [(part.step, part.instruction) for part in parts] == [
        (1, "Look at jackets for women."),
        (3, "Take 2 of the Drizzle Shell."),
        (5, "Use the code SPRING."),
    ]


def test_a_model_that_is_sure_of_what_steps_are_done_for_moves_cuts():
    """Nothing else speaks for a cut: no page changes, and the clauses have no word of the steps."""
    steps = [step(n, "HOVER", "Menu") for n in range(6)]
    sure = np.array([[0.9, 0.9, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.9, 0.9, 0.9, 0.9]])
    asked: list[tuple] = []

    def meaning(clauses, of):
        asked.append((clauses, [one.key for one in of]))
        return sure

    texts = ["Look left. Then right."]
    assert [part.step for part in propose_cuts(steps, texts, 2)] == [0, 3]
    parts = propose_cuts(steps, texts, 2, meaning=meaning)
    assert [(part.step, part.instruction) for part in parts] == [(0, "Look left."), (2, "Then right.")]
    assert asked == [(clauses_of(texts[0]), list(range(6)))]
    propose_cuts(steps, ["Look left"], 2, meaning=meaning)
    assert len(asked) == 1, "of one clause there is nothing to choose"


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([0, 1], "Find red shoes, then sort them."),
        ([2], "Buy one"),
        ([2, 0], "Find red shoes. Buy one"),
        ([1, 2], "Sort them. Buy one"),
    ],
)
def test_clauses_are_put_together_as_written_or_as_sentences(places, said):
    assert said_by("find red shoes, then sort them. Buy one", places) == said


@pytest.mark.slow
def test_most_cuts_of_the_sample_are_where_its_turns_begin():
    right = true = 0
    for steps, instruction, firsts in sample_conversations():
        parts = propose_cuts(steps, [instruction], len(firsts))
        assert all(part.instruction for part in parts)
        right += len({part.step for part in parts[1:]} & set(firsts))
        true += len(firsts) - 1
    assert true > 100
    assert right / true > 0.65, "half of them, where words were not looked at"


def test_a_task_with_few_clauses_leaves_its_parts_to_another():
    steps = [step(n, "CLICK", "Next", task=n // 4) for n in range(8)]
    parts = propose_cuts(steps, ["Go on", ASKED], 4)
    assert [part.step for part in parts][:2] == [0, 4]
    assert len(parts) == 4


def test_every_task_gets_a_part_of_its_own_however_few_are_wanted():
    steps = [step(n, "CLICK", "Next", task=n // 2) for n in range(6)]
    parts = propose_cuts(steps, ["One", "Two", "Three"], 1)
    assert [(part.step, part.instruction) for part in parts] == [(0, "One"), (2, "Two"), (4, "Three")]
    assert parts[1].why[0] == "another task"


def test_without_any_sign_parts_are_even():
    steps = [step(n, "HOVER", "Menu") for n in range(12)]
    assert [part.step for part in propose_cuts(steps, [ASKED], 3)] == [0, 4, 8]


def test_pages_are_told_apart_by_address_where_one_is_recorded():
    faces = [face_of("<p>same text</p>", f"https://shop.example/{page}") for page in ("a", "a#top", "b", "b")]
    steps = [step(n, "HOVER", "Menu", face=face) for n, face in enumerate(faces)]
    assert [part.step for part in propose_cuts(steps, [ASKED], 2)] == [0, 2]


def test_other_vectors_can_be_given_for_the_texts():
    steps = [step(n, "HOVER", "Menu") for n in range(6)]
    turned = np.array([[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 4)
    parts = propose_cuts(steps, [ASKED], 2, lambda texts: turned)
    assert [(part.step, part.why) for part in parts] == [(0, ()), (2, ("other words",))]


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(1, 6), st.lists(SAID, min_size=1, max_size=6)), min_size=1))
def test_parts_are_as_many_as_wanted_and_each_has_something_to_ask_for(wanted, tasks):
    """`tasks`: of each the number of its steps, and what it asks for."""
    texts = [" ".join(said) for _, said in tasks]
    keys = [(task, n) for task, (count, _) in enumerate(tasks) for n in range(count)]
    steps = [step(key, "CLICK", f"Link {n}", task=task) for key, (task, n) in enumerate(keys)]
    parts = propose_cuts(steps, texts, wanted)
    assert [part.step for part in parts if not part.instruction.strip()] == []
    firsts = [part.step for part in parts]
    assert firsts[0] == 0
    assert firsts == sorted(set(firsts))
    assert {key for key, (_, n) in enumerate(keys) if n == 0} <= set(firsts)
    able = sum(min(count, len(clauses_of(text))) for (count, _), text in zip(tasks, texts, strict=True))
    assert len(firsts) == min(able, max(wanted, len(tasks)))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Find a hotel in Rome, then sort by price.", ["Find a hotel in Rome", "sort by price"]),
        ("Search and buy", ["Search and buy"]),
        ("Find red and black shoes", ["Find red and black shoes"]),
        ("Open the map and zoom in", ["Open the map", "zoom in"]),
        ("", [""]),
    ],
)
def test_requests_are_taken_apart_into_clauses(text, clauses):
    assert clauses_of(text) == clauses


@pytest.mark.timed
@pytest.mark.parametrize("page", ["<p>" + "a" * 300_000 + ">", "<title" * 60_000, ">" * 300_000, "<p>" + "a" * 300_000])
def test_hostile_pages_take_no_time(page):
    begun = time.thread_time()
    face_of(page)
    assert time.thread_time() - begun < 1


@pytest.mark.timed
@pytest.mark.parametrize("text", ["Go. " * 2_500, "find b and " * 900, "Open link 7. " * 700])
def test_long_instructions_of_many_steps_take_little_time(text):
    steps = [step(n, "CLICK", f"Link {n}", f"value {n}") for n in range(200)]
    begun = time.thread_time()
    propose_cuts(steps, [text], 20)
    assert time.thread_time() - begun < 5
