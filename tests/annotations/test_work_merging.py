"""Three-way merging of texts and lists: nothing that somebody wrote gets lost without a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.text.merging import merge_lists, merge_texts, pieces

TEXTS = st.lists(st.sampled_from(["red", "shoes", "find", "cheap", "in", "Boston", ",", "size", "9"]), max_size=8)
LISTS = st.dictionaries(st.integers(0, 5), st.integers(0, 3)).map(lambda things: list(things.items()))


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "merged"),
    [
        ("find red shoes", "find blue shoes", "find red shoes in size 9", "find blue shoes in size 9"),
        ("find red shoes", "find blue shoes", "find red boots", "find blue boots"),
        ("find red shoes", "find red shoes", "find shoes", "find shoes"),
        ("find red shoes", "find blue shoes", "find blue shoes", "find blue shoes"),
        ("a b c d e", "A b c d e", "A b c d E", "A b c d E"),
        ("", "new", "", "new"),
        ("find red shoes", "find blue shoes", "find green shoes", None),
        ("find red shoes", "find red shoes now", "find red shoes today", None),
        ("find red shoes", "find red boots", "find red shoes now", None),
        ("", "one", "two", None),
        ("find red shoes", "", "find red boots", None),
    ],
)
def test_texts_are_merged_by_words(base: str, mine: str, theirs: str, merged: str | None):
    assert merge_texts(base, mine, theirs) == merged


@given(TEXTS, TEXTS, TEXTS)
def test_what_was_added_or_taken_away_on_one_side_is_so_in_the_merge(base, mine, theirs):
    merged = merge_texts(" ".join(base), " ".join(mine), " ".join(theirs))
    assert merged == merge_texts(" ".join(base), " ".join(theirs), " ".join(mine)), "both sides count the same"
    if merged is None:
        return
    for word in set(merged.split()):
        assert word in {*base, *mine, *theirs}
    for changed in (mine, theirs):
        for word in set(changed) - set(base):
            assert merged.split().count(word) >= changed.count(word), f"{word} was written and is lost"


@given(st.text(max_size=30))
def test_the_words_of_a_text_are_all_of_it(text):
    assert "".join(pieces(text)) == text


@given(LISTS, LISTS, LISTS)
def test_things_of_lists_are_merged_one_by_one(base, mine, theirs):
    merged = merge_lists(base, mine, theirs, key=lambda thing: thing[0])
    before, own, other = dict(base), dict(mine), dict(theirs)
    clash = any(len({m.get(k) for m in (before, own, other)}) == 3 for k in {*before, *own, *other})
    assert (merged is None) == clash
    if merged is not None:
        for key in {*before, *own, *other}:
            expected = own.get(key) if other.get(key) == before.get(key) else other.get(key)
            assert dict(merged).get(key) == expected
