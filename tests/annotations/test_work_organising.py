"""Which tasks are proposed for one session, and what the proposal says about it."""

import numpy as np
import pytest

from annotations.text.tfidf import tfidf
from annotations.work.organise.grouping import Rules, TaskFacts, entities, suggest


def task(key: int, text: str, *values: str, website: str = "united", split: str = "train") -> TaskFacts:
    return TaskFacts(key, key, split, website, text, values)


def keys(tasks: list[TaskFacts], **options) -> list[tuple[int, ...]]:
    return [suggestion.tasks for suggestion in suggest(tasks, **options)]


BOSTON = task(1, "Find a flight from Boston to Denver on June 4.", "Boston", "Denver")
HOTEL = task(2, "Book a rental car in Denver for a flight passenger.", "denver")
MUSIC = task(3, "Listen to the latest podcast.")


def test_neighbours_that_share_entities_are_joined_and_the_reason_is_said() -> None:
    (suggestion,) = suggest([BOSTON, HOTEL, MUSIC])
    assert suggestion.tasks == (1, 2)
    assert suggestion.why == f"same site, both mention Denver; related wish ({suggestion.score:.2f})"


def test_a_similar_wish_joins_without_entities() -> None:
    first = task(1, "show wireless headphones with noise cancelling, cheapest first")
    second = task(2, "show wireless headphones with noise cancelling, newest first")
    (suggestion,) = suggest([first, second, MUSIC])
    assert suggestion.tasks == (1, 2)
    assert suggestion.why == f"same site; similar wish ({suggestion.score:.2f})"


@pytest.mark.parametrize("other", [{"split": "test_task"}, {"website": "delta"}])
def test_tasks_of_another_split_or_site_are_never_joined(other: dict) -> None:
    assert keys([BOSTON, task(2, BOSTON.text, *BOSTON.values, **other)]) == []


def test_neighbours_come_before_tasks_that_are_further_apart() -> None:
    far = task(4, BOSTON.text, *BOSTON.values)
    assert keys([BOSTON, HOTEL, MUSIC, far], rules=Rules(longest=2)) == [(1, 2)]
    assert keys([BOSTON, MUSIC, far], rules=Rules(longest=2)) == [(1, 4)]


def test_a_session_has_at_most_the_longest_number_of_tasks_and_a_task_one_session() -> None:
    same = [task(key, "Find a flight from Boston to Denver on June 4.") for key in range(7)]
    found = keys(same, rules=Rules(longest=3))
    assert max(len(group) for group in found) == 3
    assert len({key for group in found for key in group}) == sum(len(group) for group in found)


def test_a_reason_for_three_tasks_names_which_of_them_share_what() -> None:
    second = task(2, "Book a rental car in Denver or in Reno for a flight passenger.")
    third = task(3, "Change the rental car booking in Reno for a passenger.")
    (suggestion,) = suggest([BOSTON, second, third])
    assert suggestion.tasks == (1, 2, 3)
    assert "same site, tasks 1 and 2 mention Denver, tasks 2 and 3 mention Reno; " in suggestion.why


def test_what_all_tasks_mention_is_said_once() -> None:
    found = suggest([task(key, f"Rent a {kind} in Denver.") for key, kind in enumerate(("car", "van", "truck"))])
    assert [suggestion.why for suggestion in found] == [
        f"same site, all 3 mention Denver; related wish ({found[0].score:.2f})"
    ]


def test_an_embedding_can_take_the_place_of_shared_words() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "song" in text or "podcast" in text else [0.0, 1.0] for text in texts])

    tasks = [BOSTON, MUSIC, task(4, "Play a song.")]
    assert keys(tasks) == []
    assert keys(tasks, vectors=embed) == [(3, 4)]


def test_entities_are_names_numbers_quotes_and_typed_values() -> None:
    found = entities(task(1, 'Find the show "Hamilton" in New York for 2 adults on 04/15 with United.', "Main St"))
    assert found == {"new york": "New York", "04/15": "04/15", "hamilton": "Hamilton", "main st": "Main St"}


def test_a_part_of_what_is_said_already_is_not_said_again() -> None:
    first, second = task(1, "Find the trip Ulla of Vinge.", "Vinge"), task(2, "Cancel the trip Ulla of Vinge.", "Vinge")
    (suggestion,) = suggest([first, second])
    assert suggestion.why.startswith("same site, both mention Ulla of Vinge; ")


@pytest.mark.parametrize("number", ["40", "$40", "2.50", "1,299", "100"])
def test_a_number_alone_is_no_reason_as_it_may_count_different_things(number: str) -> None:
    jacket, room = f"Find a jacket in size {number}.", f"Show rooms with a view below {number} a night."
    tasks = [task(1, jacket, number), task(2, room)]
    assert entities(tasks[0]) == {}
    assert not any(number in suggestion.why for suggestion in suggest(tasks, rules=Rules(related=0, alike=0)))
    assert keys(tasks) == []


@pytest.mark.parametrize("number", ["04/15", "17:30", "2024-05-01", "48104", "555-0199", "(734) 555-0199"])
def test_a_date_a_time_or_a_code_is_one_thing_and_joins(number: str) -> None:
    tasks = [task(1, f"Find a table on {number} for two."), task(2, f"Cancel the table on {number}.", number)]
    (suggestion,) = suggest(tasks)
    assert "both mention " in suggestion.why


def test_what_most_tasks_of_a_site_mention_tells_nothing() -> None:
    words = "shoes hats coats socks gloves belts scarves boots".split()
    tasks = [task(key, f"buy {word} at Target") for key, word in enumerate(words)]
    assert keys(tasks) == []


def test_tfidf_gives_unit_vectors_and_zeros_for_no_words() -> None:
    rows = tfidf(["buy red shoes", "buy shoes red", "the of"])
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 0])
    assert rows[0] @ rows[1] == pytest.approx(1)
    assert tfidf([""]).shape == (1, 1)
