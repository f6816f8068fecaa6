"""Near-duplicate instructions across splits, against a comparison of every pair."""

import random
from itertools import combinations

import pytest

from annotations.releases.leakage import SaidInstruction, near_duplicates


def words(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def similarity(first: str, second: str) -> float:
    """Jaccard similarity of word pairs, as the definition says."""
    sets = [set(zip(words(text), words(text)[1:], strict=False)) or {tuple(words(text))} for text in (first, second)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 1.0])
def test_the_same_pairs_are_found_as_by_comparing_all(seed: int, threshold: float) -> None:
    source = random.Random(seed)
    said = [
        SaidInstruction(
            source.choice(["train", "test_task", "test_domain"]), str(number), " ".join(source.choices("abcd", k=k))
        )
        for number, k in enumerate(source.choices(range(1, 9), k=60))
    ]
    expected = {
        frozenset([(one.split, one.text), (two.split, two.text)])
        for one, two in combinations(said, 2)
        if one.split != two.split and similarity(one.text, two.text) >= threshold
    }
    found = near_duplicates(said, threshold)
    assert {frozenset(zip(pair.splits, pair.texts, strict=True)) for pair in found} == expected
    assert len(found) == len(expected)
    for pair in found:
        assert pair.similarity == pytest.approx(similarity(*pair.texts), abs=0.001)


def test_case_and_punctuation_do_not_count_and_conversations_do() -> None:
    said = [
        SaidInstruction("train", "a", "Sort by price."),
        SaidInstruction("train", "b", "sort by price"),
        SaidInstruction("train", "b", "Sort by price!"),
        SaidInstruction("test_task", "c", "SORT by price"),
        SaidInstruction("train", "d", "…"),
        SaidInstruction("test_task", "e", "?"),
    ]
    (pair,) = near_duplicates(said)
    assert (pair.similarity, pair.splits, pair.conversations) == (1.0, ("test_task", "train"), (1, 2))


def test_pairs_within_a_split_are_no_leakage() -> None:
    said = [SaidInstruction("train", str(number), "Find a red dress in size ten") for number in range(3)]
    assert near_duplicates([*said, SaidInstruction("train", "x", "Find a red dress in size ten now")]) == []


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01])
def test_a_threshold_outside_its_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        near_duplicates([], threshold)
