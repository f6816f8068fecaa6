"""What differs between two pages: the cheapest matching by content, exact and fast."""

import random
import time
import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from annotations.dom.differences import difference, matching
from annotations.dom.differences.assignment import Edges, heaviest
from annotations.dom.differences.items import items
from annotations.dom.generated import changing_trees
from tests.quick import first_is_quick

BEFORE = """\
[1] RootWebArea 'Shop'
\t[2] link 'Basket 0'
\t[3] button 'Add to basket'
\t[4] button 'Add to basket'
\t[5] StaticText 'Free delivery'"""
AFTER = """\
[1] RootWebArea 'Shop'
\t[2] link 'Basket 1'
\t[3] button 'Add to basket'
\t[4] button 'Add to basket'
\t[9] alert 'Thank you'"""


def test_what_came_what_went_and_what_changed():
    found = difference(BEFORE, AFTER)
    assert [item.text for item in found.added] == ["[9] alert 'Thank you'"]
    assert [item.text for item in found.removed] == ["[5] StaticText 'Free delivery'"]
    assert [(a.text, b.text) for a, b in found.changed] == [("[2] link 'Basket 0'", "[2] link 'Basket 1'")]


@pytest.mark.parametrize("mode", ["minimised", "maximised", "maximised_by_text"])
def test_equal_pages_do_not_differ_whereas_published_ways_say_so(mode):
    """The published default finds every element changed; a page of which only ids changed differs in all of them."""
    renumbered = BEFORE.replace("[", "[10")
    assert not difference(BEFORE, BEFORE)
    assert not difference(BEFORE, renumbered)
    assert difference(BEFORE, renumbered, mode)
    assert bool(difference(BEFORE, BEFORE, mode)) == (mode != "minimised")


def test_of_equal_elements_the_one_whose_id_is_gone_is_removed():
    fewer = BEFORE.replace("\t[3] button 'Add to basket'\n", "")
    assert [item.node_id for item in difference(BEFORE, fewer).removed] == ["3"]
    assert [item.node_id for item in difference(fewer, BEFORE).added] == ["3"]


def test_an_element_of_another_id_is_the_same_with_another_text():
    found = difference("[4] cell 'Price of the room 80 euros'", "[77] cell 'Price of the room 95 euros'")
    assert [(a.node_id, b.node_id) for a, b in found.changed] == [("4", "77")]
    assert not difference("[4] cell 'Price'", "[77] cell 'Terms'").changed


@pytest.mark.parametrize(("before", "after"), [("", BEFORE), (BEFORE, ""), ("", ""), ("Tab 0: x", "Tab 0: y")])
def test_a_page_without_elements(before, after):
    found = difference(before, after)
    assert (len(found.added), len(found.removed)) == (5 if after == BEFORE else 0, 5 if before == BEFORE else 0)


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match=r"no mode 'hungarian'; there are correct, minimised"):
        difference("", "", "hungarian")


def cost(before: str, after: str) -> float:
    """Of what was found, among the elements that are not on both pages."""
    old, new, pairs = left_over(before, after)
    found = matching.matched(old, new)
    return sum(pairs[pair] for pair in found) + matching.LEFT * (len(old) + len(new) - 2 * len(found))


def left_over(before: str, after: str):
    old, new = items(before), items(after)
    rows, columns = matching.unequal(old, new)
    old, new = [old[row] for row in rows], [new[column] for column in columns]
    shape = len(old), len(new)
    pairs = matching.costs(old, new, matching.words_of(old, new), *np.indices(shape).reshape(2, -1))
    return old, new, pairs.reshape(shape)


def least(before: str, after: str) -> float:
    """Of every matching, by the dense way: an element may be matched with an absence."""
    old, new, pairs = left_over(before, after)
    square = np.zeros((len(old) + len(new),) * 2)
    square[: len(old), : len(new)] = pairs
    square[: len(old), len(new) :] = square[len(old) :, : len(new)] = matching.LEFT
    return square[linear_sum_assignment(square)].sum()


@pytest.mark.parametrize("seed", range(12))
def test_no_matching_is_cheaper(seed):
    before, after = changing_trees(120, random.Random(seed), share=0.5)
    assert cost(before, after) == pytest.approx(least(before, after), abs=1e-6)


@pytest.mark.slow
@first_is_quick("seed", range(3))
def test_large_pages_lose_little_by_looking_at_likely_pairs_alone(seed, monkeypatch):
    before, after = changing_trees(300, random.Random(seed), share=0.5)
    exact = least(before, after)
    monkeypatch.setattr(matching, "SMALL", 10)
    assert exact <= cost(before, after) + 1e-6
    assert cost(before, after) <= 1.02 * exact


@pytest.mark.parametrize("dense", [0, 10**6])
@pytest.mark.parametrize("seed", range(5))
def test_the_heaviest_matching_of_a_graph(seed, dense, monkeypatch):
    """Small parts and those that are too large for a matrix are solved alike."""
    monkeypatch.setattr("annotations.dom.differences.assignment.DENSE", dense)
    rng = np.random.default_rng(seed)
    worth = np.where(rng.random((30, 40)) < 0.15, rng.integers(1, 6, (30, 40)), 0.0)
    rows, columns = np.nonzero(worth)
    found = heaviest(Edges(rows, columns, worth[rows, columns]))
    assert len({row for row, _ in found}) == len({column for _, column in found}) == len(found)
    assert sum(worth[pair] for pair in found) == worth[linear_sum_assignment(worth, maximize=True)].sum()


def paragraphs(seed: int) -> str:
    """Elements of twenty words each, none of which is in many: any two pages of them share pairs by the million."""
    rng = random.Random(seed)
    texts = (" ".join(f"w{rng.randrange(8000)}" for _ in range(20)) for _ in range(12_000))
    return "\n".join(f"[{number}] link '{text}'" for number, text in enumerate(texts, 1))


LARGE = {
    "few changes": lambda: changing_trees(12_000, random.Random(7), 0.05),
    "all changed": lambda: changing_trees(12_000, random.Random(7), 1.0),
    "paragraphs": lambda: (paragraphs(1), paragraphs(2)),
}


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.full_size
@pytest.mark.parametrize("pages", LARGE.values(), ids=LARGE)
def test_pages_of_12000_nodes_take_a_second(pages):
    before, after = pages()
    begun = time.process_time()
    found = difference(before, after)
    seconds = time.process_time() - begun
    assert found
    assert seconds <= 1


@pytest.mark.slow
@pytest.mark.full_size
@pytest.mark.parametrize("pages", list(LARGE.values())[1:], ids=list(LARGE)[1:])
def test_pages_of_12000_nodes_need_no_dense_matrix(pages):
    before, after = pages()
    tracemalloc.start()
    try:
        difference(before, after)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 300e6  # a matrix of them all has 144 million cells
