"""Which failures are most like one that was seen. Core."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FailureTraits:
    """What failures are compared by: what scanners found, what was done in place of what, what the turn is about."""

    found: frozenset[str]
    kinds: str  # "CLICK on button instead of TYPE on input"
    words: frozenset[str]

    @property
    def ways(self) -> frozenset[str]:
        return self.found | {self.kinds}

    def is_way_of(self, other: "FailureTraits") -> bool:
        """Whether the other fails as this one does: a scanner found the same in both; where none found anything in this
        one, the same was done in place of the same."""
        return bool(self.found & other.found) if self.found else self.kinds == other.kinds


def nearest(failure: int, traits: Mapping[int, FailureTraits]) -> list[int]:
    """The keys of the other failures that fail as this one does, the most alike first: by the ways in which they fail,
    and among equals by the words of their turns. What few failures have makes two of them more alike."""
    seen = traits[failure]
    ways, words = _Rarity(one.ways for one in traits.values()), _Rarity(one.words for one in traits.values())
    alike = [
        (-ways.likeness(seen.ways, other.ways), -words.likeness(seen.words, other.words), key)
        for key, other in traits.items()
        if key != failure and seen.is_way_of(other)
    ]
    return [key for *_, key in sorted(alike)]


class _Rarity:
    """Compares sets of words by those that they share; a word weighs the more the fewer sets hold it."""

    def __init__(self, sets: Iterable[Collection[str]]) -> None:
        rows = list(sets)
        self.of_all, self.seen = len(rows), Counter(word for row in rows for word in row)

    def likeness(self, one: Collection[str], other: Collection[str]) -> float:
        """The cosine of two sets, 0 to 1."""
        lengths = self._squares(one) * self._squares(other)
        return self._squares(set(one) & set(other)) / math.sqrt(lengths) if lengths else 0.0

    def _squares(self, words: Iterable[str]) -> float:
        # In order, as sums of the same numbers in another order differ in the last digit.
        return sum((1 + math.log(self.of_all / self.seen[word])) ** 2 for word in sorted(words))
