"""What a proposed instruction says that no source does: other numbers and names, things to do that nobody asked for,
and words in reverse. Core.

People word a clause in their own way, so only what can hardly be another wording is found: most of a clause's words are
nobody's, a number or name is another, or all words run backwards.
"""

import re
from collections.abc import Iterable, Sequence

from annotations.text.alike_words import SaidWords, Word, informative, placed_words
from annotations.work.decompose.clauses import clause_spans
from annotations.work.decompose.spoken import in_order

MOSTLY = 2 / 3  # share of a clause's informative words that no source says, above which nobody asked for it
FEWEST = 2  # of such words, below which it is another wording
RUN = 4  # words, of which fewer may stand in reverse by chance
BACKWARDS = 2.0  # how many times as many words are in order backwards as forwards
INVISIBLE = re.compile("[\u200b\u2060\ufeff]")
NUMBERS = "zero . two three four five six seven eight nine ten eleven twelve".split()  # "one" stands for things, too
_DIGITS = re.compile(r"\d{1,18}")  # of longer numbers, which texts may hold, one piece after the other
_HALF_DAY = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)


def invented(text: str, tasks: Sequence[str], entered: Iterable[str] = (), pressed: Iterable[str] = ()) -> str:
    """Why an instruction is none of these tasks, as a sentence; "" where it may be. What the steps have entered and
    pressed may be named, too."""
    if INVISIBLE.search(text) and not any(INVISIBLE.search(task) for task in tasks):
        return "It has invisible characters within its words."
    known = [*tasks, *entered]
    if other := _other_number(text, known) or _other_name(text, [*known, *pressed]):
        return f"It says “{other}”, which no instruction of the source does."
    words = [word for task in tasks for word in placed_words(task)]
    said = SaidWords(words)
    for start, end in clause_spans(text):
        wanted = informative(text[start:end])
        new = [word for word in wanted if word.key not in said]
        if len(new) >= FEWEST and len(new) > MOSTLY * len(wanted):
            return f"It asks for “{text[start:end]}”, which no instruction of the source does."
    return "Its words stand in reverse." if _is_backwards(text, tasks) else ""


def _other_number(text: str, known: Sequence[str]) -> str:
    """A number that is not known, as written; those of a clock may be told by halves of a day."""
    there = {number for one in known for number, _ in _numbers(one)}
    if any(_HALF_DAY.search(one) for one in (text, *known)):
        there |= {number + 12 for number in there} | {number - 12 for number in there}
    return next((said for number, said in _numbers(text) if number not in there), "")


def _numbers(text: str) -> list[tuple[int, str]]:
    """The numbers of a text with the words that say them; without the zeros of a full hour."""
    found = [(number, one[0]) for one in _DIGITS.finditer(text) if (number := int(one[0]))]
    return found + [(NUMBERS.index(word.key), word.text) for word in placed_words(text) if word.key in NUMBERS]


def _other_name(text: str, known: Sequence[str]) -> str:
    """A word with a capital letter within a sentence that is not known."""
    said = SaidWords(word for one in known for word in placed_words(one))
    return next((word.text for word in placed_words(text) if _is_name(word, text) and word.key not in said), "")


def _is_name(word: Word, text: str) -> bool:
    before = text[: word.start].rstrip(" \"“‘'(")
    return (
        len(word.key) > 2 and word.text[0].isupper() and before[-1:] not in ("", *".!?:;\n…") and "’" not in word.text
    )


def _is_backwards(text: str, tasks: Sequence[str]) -> bool:
    words = [word.key for word in placed_words(text)]
    if len(words) < RUN:
        return False
    for task in tasks:
        there = [word.key for word in placed_words(task)]
        backwards = in_order(words[::-1], there)
        if backwards > RUN and backwards > len(words) / 2 and backwards >= BACKWARDS * in_order(words, there):
            return True
    return False
