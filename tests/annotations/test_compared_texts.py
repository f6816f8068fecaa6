"""Two texts compared: what `difflib` says of ordinary ones, and an answer in time for those that it never ends with."""

import random
import time
from collections.abc import Callable
from difflib import SequenceMatcher

import pytest

from annotations.campaigns.propose.proposing import edit_distance
from annotations.releases.diffing import word_diff
from annotations.text import guidelines
from annotations.text.diff import changed
from annotations.text.merging import merge_texts, pieces
from annotations.text.opcodes import opcodes
from evaluation.comparing.prompts import prompt_changes

SECONDS = 3  # of a processor; difflib alone took 155 s
TURNS = " ".join("ab"[place % 2] for place in range(2000))
OTHER = " ".join("ba"[(place * 7 // 3) % 2] for place in range(2000))
COMPARED: dict[str, Callable[[str, str], object]] = {
    "words": changed,
    "a merge": lambda one, other: merge_texts(one, other, f"{one[:-1]}c"),
    "a release": word_diff,
    "guidelines": lambda one, other: guidelines.changes(one.replace(" ", "\n"), other.replace(" ", "\n")),
    "prompts": lambda one, other: prompt_changes(one.replace(" ", "\n"), other.replace(" ", "\n")),
    "a proposal": lambda one, other: edit_distance(pieces(one), pieces(other)),
}


@pytest.mark.parametrize("compare", COMPARED.values(), ids=COMPARED)
def test_words_that_take_turns_are_compared_in_time(compare: Callable[[str, str], object]) -> None:
    begun = time.process_time()
    compare(TURNS, OTHER)
    assert time.process_time() - begun < SECONDS


@pytest.mark.slow
def test_what_cannot_be_compared_in_time_still_makes_one_text_of_the_other() -> None:
    one, other = TURNS.split(" "), OTHER.split(" ")
    made = [piece for _, _, _, start, end in opcodes(one, other) for piece in other[start:end]]
    assert made == other
    assert [piece for _, start, end, _, _ in opcodes(one, other) for piece in one[start:end]] == one
    equal = [(one[a:b], other[c:d]) for kind, a, b, c, d in opcodes(one, other) if kind == "equal"]
    assert all(mine == theirs for mine, theirs in equal)


def test_ordinary_texts_are_compared_as_difflib_does() -> None:
    chance = random.Random(7)
    for _ in range(50):
        one, other = ([chance.choice("abcd ") for _ in range(chance.randint(0, 60))] for _ in range(2))
        assert opcodes(one, other) == SequenceMatcher(None, one, other, autojunk=False).get_opcodes()


def test_of_a_long_text_only_what_was_changed_is_marked() -> None:
    """1,700 words have 2.9 million pairs of spaces."""
    before = [f"word{number}" for number in range(1700)]
    after = [word.upper() if number % 170 == 5 else word for number, word in enumerate(before)]
    gone, come = changed(" ".join(before), " ".join(after))
    assert [" ".join(before)[span.start : span.end] for span in gone] == before[5::170]
    assert len(come) == 10


def test_the_distance_of_two_texts_is_that_of_levenshtein() -> None:
    assert edit_distance("kitten", "sitting") == 3 / 7
    assert edit_distance("", "") == 0
    assert edit_distance("", "ab") == edit_distance("ab", "") == 1
    assert edit_distance("same", "same") == 0
