"""What an instruction turns round: it asks for the opposite of what a source does, or for what cannot be undone and no
source asks for. Core.

One new word is mostly another wording, and is not asked about. These few make it another task.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from annotations.text.alike_words import SaidWords, Word, placed_words

_OPPOSITES = (
    "show hide, include exclude, add remove, add delete, put remove, put delete, use skip, enable disable, "
    "activate deactivate, accept decline, accept reject, approve reject, increase reduce, increase decrease, "
    "subscribe unsubscribe, select deselect, start stop, save discard, keep discard, keep delete, keep remove, "
    "keep cancel, book cancel, order cancel, renew cancel, "
    "cheapest dearest, cheapest priciest, lowest highest, earliest latest, newest oldest, nearest farthest, "
    "smallest largest, smallest biggest, shortest longest, fewest most, minimum maximum, least most, "
    "ascending descending, departure arrival, departing arriving, leaving arriving"
)
# Before the same word, such as a number or a place.
_BEFORE_A_WORD = (
    "under over, below above, before after, until from, to from, into from, less more, fewer more, most least, "
    "maximum minimum, old new, my your"
)
# What cannot be undone, and what else asks for it in other words.
CANNOT_BE_UNDONE: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (frozenset("pay buy purchase order book reserve rent hire donate subscribe".split()), frozenset()),
    (frozenset("cancel delete remove withdraw unsubscribe deactivate decline reject".split()), frozenset()),
    (
        frozenset("send email submit post publish share forward".split()),
        frozenset("answer apply ask claim contact invite message notify order register report request tell".split()),
    ),
)
CHOOSING = frozenset(
    "cheapest dearest priciest nearest closest earliest latest newest oldest lowest highest smallest largest biggest "
    "shortest longest fastest slowest best worst".split()
)
BEFORE_VERBS = frozenset("and then please to just also i can could you now".split())


def _both_ways(pairs: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in pairs.split(","):
        one, other = pair.split()
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


OPPOSITES, BEFORE_A_WORD = _both_ways(_OPPOSITES), _both_ways(_BEFORE_A_WORD)


class Directions:
    """Which way the instructions of the source go. `pressed`: what the steps are called, which may be named, too."""

    def __init__(self, tasks: Sequence[str], pressed: Iterable[str] = ()) -> None:
        self._words = [placed_words(task) for task in tasks]
        self._said = SaidWords(chain.from_iterable(self._words))
        self._named = SaidWords(word for one in pressed for word in placed_words(one))
        self._bounds = {bound for words in self._words for bound in _bounds(words)}
        self._takes_out = any(_takes_out(words) for words in self._words)

    def turned(self, text: str, *, may_refer: bool) -> str:
        """The first word of a text that turns it round, as written; "" where none does. `may_refer`: "the cheapest" may
        be one of those that were named before."""
        return next(self._turned(text, placed_words(text), may_refer), "")

    def _turned(self, text: str, words: Sequence[Word], may_refer: bool) -> Iterator[str]:
        new = [word for word in words if word.key not in self._said]
        yield from (word.text for word in new if any(one in self._said for one in OPPOSITES.get(word.key, ())))
        for bound, what in _bounds(words):
            if (bound, what) not in self._bounds and any((one, what) in self._bounds for one in BEFORE_A_WORD[bound]):
                yield next(word.text for word in words if word.key == bound)
        if not may_refer and not any(one in self._said for one in CHOOSING):
            yield from (word.text for word in new if word.key in CHOOSING)
        if not self._takes_out and (place := _takes_out(words)):
            yield text[words[place - 1].start : words[place].end]
        for place, word in enumerate(words):
            before = words[place - 1] if place else None
            begins = before is None or before.key in BEFORE_VERBS or text[before.end : word.start].strip() != ""
            if begins and word in new and word.key not in self._named and self._cannot_be_undone(word.key):
                yield word.text

    def _cannot_be_undone(self, key: str) -> bool:
        """Whether a thing to do is of a kind of which the source has none."""
        kinds = (verbs | others for verbs, others in CANNOT_BE_UNDONE if key in verbs)
        return any(not any(verb in self._said for verb in kind) for kind in kinds)


def _bounds(words: Sequence[Word]) -> list[tuple[str, str]]:
    """The words that have an opposite, with the word that they stand before ("under £150", "from Lindale")."""
    return [(a.key, b.key) for a, b in pairwise(words) if a.key in BEFORE_A_WORD]


def _takes_out(words: Sequence[Word]) -> int:
    """The place of the "of" in "out of"; 0 where none is."""
    places = (place for place, (a, b) in enumerate(pairwise(words), 1) if (a.key, b.key) == ("out", "of"))
    return next(places, 0)
