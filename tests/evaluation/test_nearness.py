"""Which failures are most like one that was seen."""

from evaluation.scanners.nearness import FailureTraits, nearest

SWAPPED, CLICKED = "CLICK on button instead of TYPE on input", "another CLICK on a"


def traits(*found: str, kinds: str = SWAPPED, words: str = "") -> FailureTraits:
    return FailureTraits(frozenset(found), kinds, frozenset(words.split()))


def test_what_scanners_found_in_both_is_alike_and_what_they_found_in_one_alone_is_not() -> None:
    rows = {1: traits("loop"), 2: traits("loop", kinds=CLICKED), 3: traits("sibling"), 4: traits()}
    assert nearest(1, rows) == [2]
    assert nearest(3, rows) == []


def test_where_scanners_found_nothing_the_same_must_have_been_done_in_place_of_the_same() -> None:
    rows = {1: traits(), 2: traits(kinds=CLICKED), 3: traits("loop"), 4: traits()}
    assert nearest(1, rows) == [4, 3], "the other is of no kind that was seen, and one has something else beside"
    assert nearest(2, rows) == []


def test_those_with_more_and_rarer_ways_in_common_come_first() -> None:
    many = {number: traits("sibling") for number in range(10, 20)}
    rows = {1: traits("sibling", "loop"), 2: traits("sibling"), 3: traits("loop"), 4: traits("sibling", "loop")}
    assert nearest(1, rows | many)[:2] == [4, 3], "ten more failed by a sibling, so a loop says more"
    assert set(nearest(1, rows | many)) == {2, 3, 4, *many}


def test_among_equals_the_words_of_the_turn_decide_and_then_the_order_in_which_they_were_stored() -> None:
    about = {1: "shop blue boots", 2: "shop train", 3: "shop blue boots", 4: "shop train", 5: "hotel"}
    rows = {key: traits("loop", words=words) for key, words in about.items()}
    assert nearest(1, rows) == [3, 2, 4, 5]
    assert nearest(1, dict(reversed(rows.items()))) == [3, 2, 4, 5]


def test_failures_without_words_are_compared_by_their_ways_alone() -> None:
    assert nearest(1, {1: traits("loop"), 2: traits("loop"), 3: traits("loop", words="shop")}) == [2, 3]
