"""The check of rewrites for what another turn asks for already, as an agent would do it twice. Core.

A turn that goes on where an earlier one ended leaves words out or refers to them, and may repeat names and values: only
words beyond its own instruction that say a clause of another turn's, or a piece of one, ask for it again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import placed_words
from annotations.work.decompose.clauses import SAID, clause_spans
from annotations.work.decompose.spoken import FEW_WORDS, SpokenPart, is_short

SAID_AGAIN = "said-again"  # the code of such a warning


def check_said_again(parts: Sequence[PartText]) -> list[Warned]:
    """Warn of rewrites that ask for what another turn's instruction asks for, where that turn's rewrite does, too."""
    spoken = {place: _beyond_its_own(part) for place, part in enumerate(parts) if part.rewrite.strip()}
    asked = _ClausesByWord([one for place, said in spoken.items() for one in _asked(place, parts[place], said)])
    found: list[Warned] = []
    for place, said in spoken.items():
        left, there = said.keys_left(), frozenset(word.key for word in said.words)
        for other, near in groupby(asked.near(left, there), lambda one: one.place):
            again = (one.clause for one in near if other != place and _says(said, one.clause, spoken[other]))
            if (clause := next(again, None)) is not None:
                text = f"“{clause}” is asked for here and in turn {other + 1}: a turn says its own part alone."
                found.append(Warned(parts[place].step, "rewrite", SAID_AGAIN, text))
    return found


@dataclass(frozen=True)
class _TurnClause:
    """A clause that the turn at a place asks for, with its words, as keys."""

    place: int
    clause: str
    keys: frozenset[str]


class _ClausesByWord:
    """What all turns ask for, by its words: a conversation of 200 turns has 40,000 pairs of turns, of which nearly all
    have nothing in common."""

    def __init__(self, every: Sequence[_TurnClause]) -> None:
        self.every = every
        self._having: dict[str, list[int]] = {}
        for number, one in enumerate(every):
            for key in one.keys:
                self._having.setdefault(key, []).append(number)
        self._by_rarest: dict[str, list[int]] = {}
        for number, one in enumerate(every):
            rarest = min(one.keys, key=lambda key: (len(self._having[key]), key))
            self._by_rarest.setdefault(rarest, []).append(number)

    def near(self, left: Set[str], there: Set[str]) -> Iterator[_TurnClause]:
        """The clauses that a turn may ask for, in order: it has a few of their words left over, or has all of them."""
        having = Counter(number for key in left for number in self._having.get(key, ()))
        found = {number for number, count in having.items() if count >= FEW_WORDS - 1}
        whole = (number for key in there for number in self._by_rarest.get(key, ()))
        found.update(number for number in whole if self.every[number].keys <= there)
        return (self.every[number] for number in sorted(found))


def _beyond_its_own(part: PartText) -> SpokenPart:
    """A rewrite, in which the words of its own instruction stand for that."""
    said = SpokenPart(part.rewrite, clause_spans(part.rewrite))
    for start, end in clause_spans(part.instruction):
        said.take(part.instruction[start:end])
    return said


def _asked(place: int, part: PartText, said: SpokenPart) -> Iterator[_TurnClause]:
    """The clauses of an instruction that its rewrite asks for; not those that are said by chance ("save it")."""
    for start, end in clause_spans(part.instruction):
        clause = part.instruction[start:end]
        if not is_short(clause) and said.share(clause) >= SAID:
            yield _TurnClause(place, clause, frozenset(word.key for word in placed_words(clause)))


def _says(said: SpokenPart, clause: str, other: SpokenPart) -> bool:
    """Whether a rewrite says a clause that is another's, or a piece of it that the other says as well. It has to say
    all of it, as tasks differ in one word ("Order cetirizine at Bridge Chemist")."""
    whole = said.share(clause) == 1.0 and said.repeats(clause, alone=False)
    return whole or said.echoes(clause, other)
