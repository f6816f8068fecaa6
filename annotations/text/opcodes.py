"""What makes one sequence of another, as `difflib` finds it, in bounded time. Core.

`difflib` looks at every pair of equal elements, again for each stretch that it finds: two texts of 2,000 words that
take turns ("a b a b …") keep it busy for minutes. After so many pairs it begins anew without the elements that make up
more than a hundredth (spaces, in a long text), and what it has not looked at after as many again counts as replaced.
"""

from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

MOST_PAIRS = 2_000_000  # about a quarter of a second
Opcode = tuple[str, int, int, int, int]


def opcodes(before: Sequence[str], after: Sequence[str], most_pairs: int = MOST_PAIRS) -> list[Opcode]:
    """(equal, replace, delete or insert; its places in `before` and in `after`), in order."""
    matcher = _BoundedMatcher(before, after, most_pairs, autojunk=False)
    found: list[Opcode] = list(matcher.get_opcodes())
    if matcher.left < 0:
        found = list(_BoundedMatcher(before, after, most_pairs, autojunk=True).get_opcodes())
    return found


class _BoundedMatcher(SequenceMatcher[str]):
    def __init__(self, before: Sequence[str], after: Sequence[str], most_pairs: int, autojunk: bool) -> None:
        super().__init__(None, before, after, autojunk)
        self.left, self._size = most_pairs, len(before)
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]
        self._pairs = [0, *accumulate(len(places.get(element, ())) for element in before)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        end = self._size if ahi is None else ahi
        self.left -= self._pairs[end] - self._pairs[alo]
        return Match(alo, blo, 0) if self.left < 0 else super().find_longest_match(alo, ahi, blo, bhi)
