"""What a part says, word by word, and which of its words already stand for a clause that it asks for. Core.

Each clause of the source takes the words that say it out of one part. What nearly says it again in the words left over
asks for it once more, so that two tasks may honestly have one clause, or two that are nearly alike.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice, pairwise
from math import ceil

from annotations.text.alike_words import SaidWords, Word, informative, placed_words
from annotations.text.stop_words import NOT_INFORMATIVE

REPEATED = 0.8  # share of a clause's words that stand in a part in their order, from which the part says it again
MOST_WORDS = 200  # of a text that is compared word by word in order
JOINING = frozenset({"and", "then"})
FEW_WORDS = 4  # shorter clauses stand by chance in what says something else
UNSPACED = "\u2e80"  # from here on are scripts in which a phrase is written as one word
ALONE = 1.5  # the most words of a passage that says a clause and nothing else, by those of the clause


class SpokenPart:
    """The words of one part's instruction. `spans`: its own clauses, as places in the text."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        self.words = placed_words(text)
        self._all = SaidWords(self.words)
        self._placed = _compared(self.words)
        self._compared = [word.key for word in self._placed]
        self.keys = frozenset(self._compared)
        starts = [start for start, _ in spans[1:]]
        bounds = [0, *(sum(word.start < start for word in self._placed) for start in starts)]
        self._pieces = [range(a, b) for a, b in pairwise([*bounds, len(self._compared)]) if a < b]
        self._taken: list[tuple[float, frozenset[int]]] = []  # the share of a clause, and the words that stand for it

    def share(self, clause: str) -> float:
        """The share of a clause's informative words that the part has."""
        return said_share(clause, self._all)

    def share_left(self, clause: str) -> float:
        """The same of the words that stand for no other clause yet."""
        taken = self._words_taken(0.0)
        return said_share(clause, SaidWords(word for place, word in enumerate(self._placed) if place not in taken))

    def keys_left(self) -> frozenset[str]:
        """The words, as keys, that stand for no clause."""
        taken = self._words_taken(0.0)
        return frozenset(key for place, key in enumerate(self._compared) if place not in taken)

    def take(self, clause: str) -> None:
        """Let the words that say a clause stand for it: those that do in one piece, else in one clause of the part,
        else anywhere."""
        taken = self._words_taken(0.0)
        free = [place for place in range(len(self._compared)) if place not in taken]
        wanted = _keys(clause)
        found = self._run(free, wanted) or self._in_a_piece(taken, wanted) or self._matched(free, wanted)
        self._taken.append((self.share(clause), frozenset(found)))

    def repeats(self, clause: str, *, alone: bool) -> bool:
        """Whether words that stand for no clause say this one. Words that stand for one of which the part has less do
        not count as taken. `alone`: a passage has to say it and nothing else."""
        wanted = _keys(clause)
        if not _has_most(self.keys, wanted):
            return False
        taken = self._words_taken(self.share(clause))
        if not alone:
            return _says_again([key for place, key in enumerate(self._compared) if place not in taken], wanted)
        left = [[place for place in piece if place not in taken] for piece in self._pieces]
        return any(self._says_alone(piece, clause, wanted) for piece in left)

    def echoes(self, clause: str, other: "SpokenPart") -> bool:
        """Whether words of this part that stand for no clause say a piece of this one that the other part says too: in
        few words only where that is all that it says, in one go."""
        wanted = _keys(clause)
        if not self._words_taken(0.0) and 0 < len(self._compared) < FEW_WORDS and self._is_piece_of(wanted):
            return self._is_piece_of(other._compared)
        return any(_says_again(wanted, piece) and _says_again(other._compared, piece) for piece in self.pieces_left())

    def says_a_piece_again(self, clause: str) -> bool:
        """Whether words that stand for no clause say a piece of this one, in several words of which all are among those
        that stand for it, in whatever order."""
        own = set(_keys(clause)) & {self._compared[place] for _, places in self._taken for place in places}
        return any(own.issuperset(piece) for piece in self.pieces_left())

    def says_a_piece_twice(self, clause: str) -> bool:
        """Whether two pieces that stand for no clause say the same, which this clause says."""
        said = [piece for piece in self.pieces_left() if _says_again(_keys(clause), piece)]
        return any(_says_again(one, other) for one, other in combinations(said, 2))

    def pieces_left(self) -> Iterator[list[str]]:
        """What stands for no clause, piece by piece, of as many words as do not stand there by chance."""
        taken = self._words_taken(0.0)
        left = ([self._compared[place] for place in piece if place not in taken] for piece in self._pieces)
        return (piece for piece in left if len(piece) >= FEW_WORDS)

    def beyond(self, task: str) -> list[frozenset[str]]:
        """Of each piece that stands for no clause the words that say something and are none of the task's own, where
        they are several."""
        own = SaidWords(placed_words(task))
        telling = (frozenset(one for one in piece if one not in NOT_INFORMATIVE) for piece in self.pieces_left())
        return [piece for piece in telling if sum(key not in own for key in piece) >= FEW_WORDS - 1]

    def says_most_of(self, piece: Collection[str], clause: str) -> bool:
        """Whether nearly all words of a piece are the clause's, and the part's, too."""
        return _has_most(self.keys.intersection(_keys(clause)), list(piece))

    def _is_piece_of(self, there: Sequence[str]) -> bool:
        """Whether the part says these words, one after the other, and nothing else; one word alone only of a writing
        that puts no spaces between words."""
        own = self._compared
        if len(own) == 1 and own[0][0] < UNSPACED:
            return False
        runs = (there[start : start + len(own)] for start in range(len(there) - len(own) + 1))
        return any(list(run) == own for run in runs)

    def _says_alone(self, places: Sequence[int], clause: str, wanted: Sequence[str]) -> bool:
        """Whether the words at these places say the clause, with all of its informative ones, and hardly more."""
        there = [self._compared[place] for place in places]
        if len(wanted) < FEW_WORDS:
            return bool(wanted) and there == wanted
        said = SaidWords(self._placed[place] for place in places)
        return len(there) <= ALONE * len(wanted) and _says_again(there, wanted) and said_share(clause, said) == 1.0

    def _words_taken(self, least: float) -> set[int]:
        return {place for share, places in self._taken if share >= least for place in places}

    def _run(self, free: Sequence[int], wanted: Sequence[str]) -> Sequence[int]:
        """The first places that have these words one after the other."""
        for start in range(len(free) - len(wanted) + 1):
            run = free[start : start + len(wanted)]
            if run and run[-1] - run[0] < len(wanted) and [self._compared[place] for place in run] == wanted:
                return run
        return ()

    def _in_a_piece(self, taken: Collection[int], wanted: Sequence[str]) -> Sequence[int]:
        """The places in the clause of the part that says most of these words, where it says nearly all of them."""
        best: list[int] = []
        for piece in self._pieces:
            free = [place for place in piece if place not in taken]
            if _has_most([self._compared[place] for place in free], wanted):
                best = max(best, self._matched(free, wanted), key=len)
        return best if len(best) >= REPEATED * len(wanted) else ()

    def _matched(self, places: Sequence[int], wanted: Sequence[str]) -> list[int]:
        """Places that have as many of these words as possible, in their order."""
        rows = _lengths([self._compared[place] for place in places], wanted)
        found: list[int] = []
        row, column = len(wanted), len(places)
        while row and column:
            if rows[row][column] == rows[row - 1][column]:
                row -= 1
            elif rows[row][column] == rows[row][column - 1]:
                column -= 1
            else:
                row, column = row - 1, column - 1
                found.append(places[column])
        return found[::-1]


class SpokenParts:
    """The parts of a session by their first steps, in order, and by their words: each clause is compared with the few
    that may say it, as of 200 turns nearly all pairs have nothing in common."""

    def __init__(self, parts: Mapping[int, SpokenPart]) -> None:
        self.of_step = parts
        self.places = {step: place for place, step in enumerate(parts)}
        self._having: dict[str, list[int]] = {}
        for step, part in parts.items():
            for key in part.keys:
                self._having.setdefault(key, []).append(step)

    def near(self, clause: str) -> Iterator[tuple[int, SpokenPart]]:
        """The parts that may repeat a clause, in order: one that lacks few enough of its words has one of any that are
        more than those, of which the rarest are looked up."""
        wanted = _keys(clause)
        most_lacking = len(wanted) - ceil(REPEATED * len(wanted))
        having = sorted((self._having.get(key, []) for key in wanted), key=len)[: most_lacking + 1]
        steps = {step for those in having for step in those}
        near = (step for step in steps if _has_most(self.of_step[step].keys, wanted))
        return ((step, self.of_step[step]) for step in sorted(near, key=self.places.__getitem__))


def said_share(clause: str, said: SaidWords) -> float:
    """The share of a clause's informative words, or of all where it has none, that are among those said."""
    words = informative(clause) or placed_words(clause)
    return sum(word.key in said for word in words) / len(words) if words else 1.0


def is_short(clause: str) -> bool:
    """Whether a clause has so few words that something else has them by chance."""
    return len(placed_words(clause)) < FEW_WORDS


@lru_cache(maxsize=1024)  # clauses are compared with every part that may say them
def _keys(text: str) -> Sequence[str]:
    return [word.key for word in _compared(placed_words(text))]


def _compared(words: Iterable[Word]) -> list[Word]:
    """The first words that say something: what joins clauses belongs to none."""
    return list(islice((word for word in words if word.key not in JOINING), MOST_WORDS))


def _has_most(there: Collection[str], wanted: Sequence[str]) -> bool:
    """Whether nearly all words are there, in whatever order: quickly told."""
    known = there if isinstance(there, frozenset) else frozenset(there)
    return bool(wanted) and sum(map(known.__contains__, wanted)) >= REPEATED * len(wanted)


def _says_again(there: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether nearly all words are there in their order; a single word has to be all that is there."""
    if len(wanted) < 2:
        return bool(wanted) and list(wanted) == list(there)
    return _has_most(there, wanted) and _lengths(there, wanted)[-1][-1] >= REPEATED * len(wanted)


def in_order(there: Sequence[str], wanted: Sequence[str]) -> int:
    """How many of the first words stand there in their order."""
    return _lengths(there[:MOST_WORDS], wanted[:MOST_WORDS])[-1][-1]


def _lengths(there: Sequence[str], wanted: Sequence[str]) -> list[list[int]]:
    """The lengths of the longest common subsequences of the first words of both."""
    rows = [[0] * (len(there) + 1)]
    for key in wanted:
        before, row = rows[-1], [0]
        for place, other in enumerate(there, 1):
            row.append(before[place - 1] + 1 if key == other else max(row[-1], before[place]))
        rows.append(row)
    return rows
