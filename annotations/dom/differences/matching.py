"""Compares two pages by content: equal elements are found by hashing, the rest by the cheapest matching. Core.

An element whose role and content are on both pages has not changed, whatever ids a browser gave it. The other elements
are matched so that the sum of costs is least: a pair costs the share of its words that is not in common, and more where
roles or ids differ; an element without partner costs LEFT. Two elements that would cost as much as a pair as alone are
no pair, so most need not be compared: that is why pages of 12,000 nodes need no matrix of 144 million cells.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from annotations.dom.differences.assignment import Edges, MatchedPlaces, heaviest
from annotations.dom.differences.items import Change, PageDifference, PageItem, items

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROLE, ID, PLACE = 0.5, 0.5, 0.02  # what differing costs beside the words; places decide between equals
LEFT = 0.75  # what an element without partner costs
SMALL = 250_000  # pairs of two pages that are all compared
NEAR = 6  # partners of an element that are compared on larger pages
COMMON = 40  # elements of a larger page beyond which a word names none of them
SHARING = 50  # pairs of elements that share a word, for each element of a larger page: those of the rarest words

WordCounts: TypeAlias = "tuple[csr_array, csr_array]"  # which words each element of either page has
_WORD = re.compile(r"\w+")


def difference(before: str, after: str) -> PageDifference:
    """What differs by the cheapest matching of the elements that are not on both pages."""
    old, new = items(before), items(after)
    rows, columns = unequal(old, new)
    found = matched([old[place] for place in rows], [new[place] for place in columns])
    partner = {rows[row]: columns[column] for row, column in found}
    come = set(columns) - set(partner.values())
    return PageDifference(
        tuple(new[place] for place in columns if place in come),
        tuple(old[place] for place in rows if place not in partner),
        tuple(Change(old[row], new[partner[row]]) for row in rows if row in partner),
    )


def unequal(old: Sequence[PageItem], new: Sequence[PageItem]) -> tuple[list[int], list[int]]:
    """Places of the elements of each page that the other page has not, or not as often. Among equal elements those with
    the same id are taken as the same first."""
    there = _places(new, lambda item: (item.role, item.content))
    rows, columns = [], []
    for key, here in _places(old, lambda item: (item.role, item.content)).items():
        own, others = _without_partner(old, here, new, there.pop(key, []))
        rows += own
        columns += others
    return sorted(rows), sorted(columns + [place for places in there.values() for place in places])


def _without_partner(
    old: Sequence[PageItem], here: list[int], new: Sequence[PageItem], there: list[int]
) -> tuple[list[int], list[int]]:
    """Of elements that are equal on both pages, the places of those that one page has too many; those with an id on
    both pages find a partner first."""
    if len(here) == len(there):
        return [], []
    ids = {old[place].node_id for place in here} & {new[place].node_id for place in there}
    here = sorted(here, key=lambda place: old[place].node_id not in ids)
    there = sorted(there, key=lambda place: new[place].node_id not in ids)
    shared = min(len(here), len(there))
    return here[shared:], there[shared:]


def matched(old: Sequence[PageItem], new: Sequence[PageItem]) -> list[MatchedPlaces]:
    """The pairs of the cheapest matching, exact up to SMALL pairs, among the likeliest partners beyond."""
    if not old or not new:
        return []
    words = words_of(old, new)
    rows, columns = _all(old, new) if len(old) * len(new) <= SMALL else _likely(old, new, words)
    gains = 2 * LEFT - costs(old, new, words, rows, columns)
    worth = gains > 1e-9
    return sorted(heaviest(Edges(rows[worth], columns[worth], gains[worth])))


def costs(
    old: Sequence[PageItem], new: Sequence[PageItem], words: WordCounts, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """The cost of each pair (rows[i], columns[i]) of an old and a new element."""
    old_words, new_words = words
    shared = np.zeros(len(rows))
    for start in range(0, len(rows), SMALL):
        part = slice(start, start + SMALL)
        shared[part] = old_words[rows[part]].multiply(new_words[columns[part]]).sum(axis=1)
    together = old_words.sum(axis=1)[rows] + new_words.sum(axis=1)[columns] - shared
    apart = 1 - np.where(together, shared / np.maximum(together, 1), 1)
    roles, ids = (_differ(old, new, name, rows, columns) for name in ("role", "node_id"))
    return apart + ROLE * roles + ID * ids + PLACE * np.abs(rows / len(old) - columns / len(new))


def _differ(
    old: Sequence[PageItem], new: Sequence[PageItem], field: str, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(getattr(item, field), len(numbers)) for item in page]) for page in (old, new)
    )
    differ: np.ndarray = first[rows] != second[columns]
    return differ


def words_of(old: Sequence[PageItem], new: Sequence[PageItem]) -> WordCounts:
    """Which words stand in each element: a sparse matrix of 0 and 1 for either page, with the same columns."""
    vocabulary: dict[str, int] = {}
    first, second = ([_numbers(item.content, vocabulary) for item in page] for page in (old, new))
    return _incidence(first, len(vocabulary)), _incidence(second, len(vocabulary))


def _numbers(text: str, vocabulary: dict[str, int]) -> set[int]:
    return {vocabulary.setdefault(word, len(vocabulary)) for word in _WORD.findall(text)}


def _incidence(sets: Sequence[set[int]], width: int) -> "csr_array":
    ends = np.cumsum([0, *map(len, sets)])
    found = np.fromiter((word for one in sets for word in one), dtype=np.int64, count=int(ends[-1]))
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(found)), found, ends), shape=(len(sets), width))


def _all(old: Sequence[PageItem], new: Sequence[PageItem]) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.indices((len(old), len(new)))
    return rows.ravel(), columns.ravel()


def _likely(old: Sequence[PageItem], new: Sequence[PageItem], words: WordCounts) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of old and new elements that are worth comparing: they share a rare word, or their id, or their role and
    how many elements of that role came before."""
    old_words, new_words = words
    telling = _telling(old_words.sum(axis=0), new_words.sum(axis=0), SHARING * max(len(old), len(new)))
    from scipy.sparse import coo_array

    shared = coo_array(old_words[:, telling] @ new_words[:, telling].T)
    kept = _best(shared.row, shared.col, shared.data) | _best(shared.col, shared.row, shared.data)
    places = [(shared.row[kept], shared.col[kept])]
    places += [_alike(old, new, lambda item, number: item.node_id), _alike(old, new, lambda item, n: (item.role, n))]
    rows, columns = (np.concatenate(parts).astype(np.int64) for parts in zip(*places, strict=True))
    one = np.unique(rows * len(new) + columns)
    return one // len(new), one % len(new)


def _telling(old: np.ndarray, new: np.ndarray, most: int) -> np.ndarray:
    """The words by which elements of two pages are paired: of those that few elements of either page hold, the rarest,
    as long as they make no more than `most` pairs. `old`, `new`: how many elements hold each word."""
    pairs = old * new
    common = (old > COMMON) | (new > COMMON)
    rarest = np.argsort(np.where(common, np.inf, pairs), kind="stable")
    kept: np.ndarray = rarest[np.cumsum(np.where(common, 0, pairs)[rarest]) <= most]
    telling: np.ndarray = kept[~common[kept] & (pairs[kept] > 0)]
    return telling


def _best(groups: np.ndarray, others: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Which pairs to keep, as a mask: of each group the NEAR pairs with the greatest shares."""
    order = np.lexsort((others, -shares, groups))
    starts = np.flatnonzero(np.r_[True, np.diff(groups[order]) > 0]) if len(order) else np.zeros(0, dtype=int)
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    kept = np.zeros(len(order), dtype=bool)
    kept[order[place < NEAR]] = True
    return kept


def _alike(
    old: Sequence[PageItem], new: Sequence[PageItem], key: Callable[[PageItem, int], Hashable]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of old and new elements whose keys are equal. `key` gets an element and how many elements of its role came
    before."""
    there = _keyed(new, key)
    pairs = [(row, column) for name, row in _keyed(old, key).items() if (column := there.get(name)) is not None]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _keyed(page: Sequence[PageItem], key: Callable[[PageItem, int], Hashable]) -> dict[Hashable, int]:
    seen: dict[str, int] = defaultdict(int)
    found = {}
    for place, item in enumerate(page):
        found[key(item, seen[item.role])] = place
        seen[item.role] += 1
    return found


def _places(page: Sequence[PageItem], key: Callable[[PageItem], Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(page):
        found[key(item)].append(place)
    return found
