"""What an instruction or a rewrite says that no source does: other numbers and names, things to do that nobody asked
for, and words in reverse. Core.

People word a clause in their own way, so only what can hardly be another wording is found: most of a clause's words are
nobody's, a number or name is another, or all words run backwards.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from annotations.text.alike_words import SaidWords, Word, alike, informative, placed_words
from annotations.text.stop_words import NOT_INFORMATIVE
from annotations.work.decompose.clauses import REQUESTS, clause_spans
from annotations.work.decompose.lost import NUMBERS, negations, numbers_in
from annotations.work.decompose.spoken import in_order
from annotations.work.decompose.turned import Directions

MOSTLY = 2 / 3  # share of a clause's informative words that no source says, above which nobody asked for it
NEW_RUN = 2  # of such words one after the other, from which somebody asks for more
FEWEST = 2  # of such words, below which it is another wording
RUN = 4  # words, of which fewer may stand in reverse by chance
BACKWARDS = 2.0  # how many times as many words are in order backwards as forwards
REFERRING = frozenset("it its them they their those these this that there one ones same".split())
FILLERS = frozenset("after again before either else further here instead more once say still way whether".split())
_WHOLE = re.compile(r"[0-9]{1,4}")
SAYS = "It says “{}”, which no instruction of the source does."
INVISIBLE = re.compile("[\u200b\u2060\ufeff]")
_HALF_DAY = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)


class AskedFor:
    """What people asked for, read once: their instructions (`tasks`), and what the steps have entered and pressed,
    which may be named, too."""

    def __init__(self, tasks: Sequence[str], entered: Iterable[str] = (), pressed: Iterable[str] = ()) -> None:
        self.tasks, self._known, self._pressed = tasks, [*tasks, *entered], pressed

    def lacks(self, text: str, *, may_refer: bool = False) -> str:
        """Why a text is none of these tasks, as a sentence; "" where it may be. `may_refer`: it may refer to what was
        said before, in words of its own."""
        if INVISIBLE.search(text) and not any(INVISIBLE.search(task) for task in self.tasks):
            return "It has invisible characters within its words."
        if other := self._other_number(text) or self._other_name(text):
            return SAYS.format(other)
        for start, end in clause_spans(text):
            wanted = [word for word in informative(text[start:end]) if not _is_filler(word)]
            new = [word for word in wanted if word.key not in self._said]
            there = {word.key for word in placed_words(text[start:end])}
            if may_refer and there & {*REFERRING, "either"}:
                continue
            if len(new) >= FEWEST and len(new) > MOSTLY * len(wanted):
                return f"It asks for “{text[start:end]}”, which no instruction of the source does."
            if run := self._new_run(wanted):
                return SAYS.format(text[start:end][run[0].start : run[-1].end])
        if pair := self._other_count(text):
            return SAYS.format(pair)
        if turned := self._directions.turned(text, may_refer=may_refer):
            return SAYS.format(turned)
        if negations(placed_words(text)) > self._negations:
            return "It says “not” where no instruction of the source does."
        return "Its words stand in reverse." if self._is_backwards(text) else ""

    @cached_property
    def _said(self) -> SaidWords:
        return SaidWords(word for task in self.tasks for word in placed_words(task))

    def new_words(self, text: str) -> list[str]:
        """The words that say something, other than what is to be done with it, which neither the source nor what the
        steps are called says: too many to ask about, and too few to pass unseen. Numbers are asked about by `lacks`."""
        wanted = (word for word in informative(text) if not _is_filler(word) and word.key not in REQUESTS)
        words = [word for word in wanted if not word.key.isdigit()]
        return [word.text for word in words if word.key not in self._said and word.key not in self._named]

    def _other_count(self, text: str) -> str:
        """A number with what it counts, where the source counts that otherwise, as written."""
        for number, word, said in _counts(text):
            known = [n for n, other, _ in self._counts if alike(word, other)]
            if known and number not in known:
                return said
        return ""

    @cached_property
    def _counts(self) -> list[tuple[int, str, str]]:
        return [one for task in self.tasks for one in _counts(task)]

    def _new_run(self, wanted: Sequence[Word]) -> list[Word]:
        """The first words one after the other that neither the source nor what the steps are called says."""
        run: list[Word] = []
        for word in wanted:
            known = word.key in self._said or word.key in self._named or word.key[:1].isdigit()
            run = [] if known else [*run, word]
            if len(run) == NEW_RUN:
                return run
        return []

    @cached_property
    def _directions(self) -> Directions:
        return Directions(self.tasks, self._pressed)

    @cached_property
    def _negations(self) -> int:
        return sum(negations(placed_words(task)) for task in self.tasks)

    @cached_property
    def _named(self) -> SaidWords:
        texts = (*self._known, *self._pressed)
        return SaidWords(word for one in texts for whole in placed_words(one) for word in (whole, *_pieces(whole)))

    @cached_property
    def _counted(self) -> frozenset[int]:
        return frozenset(number for one in self._known for number, _ in numbers_in(one))

    @cached_property
    def _tells_half_days(self) -> bool:
        return any(_HALF_DAY.search(one) for one in self._known)

    def _other_number(self, text: str) -> str:
        """A number that is not known, as written; those of a clock may be told by halves of a day."""
        apart = (0, 12, -12) if self._tells_half_days or _HALF_DAY.search(text) else (0,)
        return next((said for n, said in numbers_in(text) if not any(n + one in self._counted for one in apart)), "")

    def _other_name(self, text: str) -> str:
        """A word with a capital letter within a sentence that is not known, as a whole or by all of its pieces."""
        names = (word for word in placed_words(text) if _is_name(word, text) and word.key not in self._named)
        return next((word.text for word in names if not all(one.key in self._named for one in _pieces(word))), "")

    def _is_backwards(self, text: str) -> bool:
        words = [word.key for word in placed_words(text)]
        backwards = set(pairwise(words[::-1]))
        near = Counter(place for pair in backwards for place in self._following.get(pair, ()))
        for place in (place for place, count in near.items() if count >= RUN - 1):  # of nearly all tasks none
            there = self._orders[place]
            in_reverse = in_order(words[::-1], there)
            if in_reverse > RUN and in_reverse > len(words) / 2 and in_reverse >= BACKWARDS * in_order(words, there):
                return True
        return False

    @cached_property
    def _orders(self) -> list[list[str]]:
        return [[word.key for word in placed_words(task)] for task in self.tasks]

    @cached_property
    def _following(self) -> dict[tuple[str, str], list[int]]:
        """Two words, the second after the first: the places of the tasks in which they stand."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, words in enumerate(self._orders):
            for pair in {*pairwise(words)}:
                found.setdefault(pair, []).append(place)
        return found


def _pieces(word: Word) -> tuple[Word, ...]:
    """The words that are joined in one ("Spanish-speaking"); of another word itself alone."""
    return placed_words(word.text.replace("-", " "))


def _counts(text: str) -> list[tuple[int, str, str]]:
    """The whole numbers that stand before a word that says something: number, word, and both as written."""
    telling = {word.start for word in informative(text)}
    found: list[tuple[int, str, str]] = []
    for first, word in pairwise(placed_words(text)):
        number = NUMBERS[first.key] if first.key in NUMBERS else int(first.key) if _WHOLE.fullmatch(first.key) else None
        if number is not None and word.start in telling and word.key.isalpha() and word.start == first.end + 1:
            found.append((number, word.key, text[first.start : word.end]))
    return found


def _is_filler(word: Word) -> bool:
    """Whether a word is put in where another is left out ("once more"), or is a joined pair of small ones ("I'd")."""
    return word.key in FILLERS or (word.key.replace("’", "'").rpartition("'")[0] in NOT_INFORMATIVE)


def _is_name(word: Word, text: str) -> bool:
    before = text[: word.start].rstrip(" \"“‘'(")
    return (
        len(word.key) > 2 and word.text[0].isupper() and before[-1:] not in ("", *"*.!?:;\n…") and "’" not in word.text
    )
