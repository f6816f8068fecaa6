"""The words of a text with their places, and which of them are forms of one word. Core.

Two words are forms of one word when they begin alike ("flight", "flights"). A short list of English stop words is left
out; texts in other languages have none of them, so that more of their words count.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from annotations.text.stop_words import NOT_INFORMATIVE

_WORD = re.compile(r"\w+(?:[’'.,:/&-]\w+)*")


@dataclass(frozen=True)
class Word:
    """One word of a text and its place there, counted in characters."""

    text: str
    start: int
    end: int
    key: str


@lru_cache(maxsize=2048)  # the texts of a conversation are compared with one another again and again
def placed_words(text: str) -> tuple[Word, ...]:
    return tuple(Word(m[0], m.start(), m.end(), _key(m[0])) for m in _WORD.finditer(text))


@lru_cache(maxsize=2048)
def informative(text: str) -> tuple[Word, ...]:
    """The words that carry information: neither stop words nor single letters. A stop word with a capital letter within
    a sentence is a name, as "May" or "US", and counts."""
    return tuple(
        word
        for word in placed_words(text)
        if (len(word.key) > 1 or word.key.isdigit()) and (word.key not in NOT_INFORMATIVE or is_name(word, text))
    )


def alike(a: str, b: str) -> bool:
    """Whether two words, given by their keys, are forms of one: "shoe" and "shoes", "cheap" and "cheapest"; numbers
    must be equal."""
    if a == b:
        return True
    if not (a.isalpha() and b.isalpha()):
        return False
    shorter, longer = sorted((a, b), key=len)
    common = next((i for i, letter in enumerate(shorter) if letter != longer[i]), len(shorter))
    if common == len(shorter) >= 3 and len(longer) - len(shorter) <= 2:
        return True
    return common >= 4 and len(shorter) - common <= 1 and len(longer) - common <= 3


class SaidWords:
    """A set of words that contains a key when one of its words is a form of the same word."""

    def __init__(self, said: Iterable[Word] = ()) -> None:
        self._by_beginning: dict[str, set[str]] = {}
        self.add(said)

    def add(self, said: Iterable[Word]) -> None:
        for word in said:
            self._by_beginning.setdefault(word.key[:3], set()).add(word.key)

    def __contains__(self, key: str) -> bool:
        there = self._by_beginning.get(key[:3], set())
        return key in there or (key.isalpha() and any(alike(key, other) for other in there))


def says(text: str, value: str) -> bool:
    """Whether all words of a value are in the text; never for a value without words."""
    wanted, there = placed_words(value), SaidWords(placed_words(text))
    return bool(wanted) and all(word.key in there for word in wanted)


def place_of(text: str, value: str) -> tuple[int, int] | None:
    """The place of a value in the text, from its first to its last word; None when it is not there in one piece."""
    wanted, there = [word.key for word in placed_words(value)], placed_words(text)
    for start in range(len(there) - len(wanted) + 1) if wanted else ():
        run = there[start : start + len(wanted)]
        if all(alike(word.key, key) for word, key in zip(run, wanted, strict=True)):
            return run[0].start, run[-1].end
    return None


def is_name(word: Word, text: str) -> bool:
    """Whether a word has a capital letter within a sentence."""
    before = text[: word.start].rstrip(" \"“‘'(")
    return word.text[0].isupper() and bool(before) and before[-1] not in ".!?:;\n"


def _key(word: str) -> str:
    key = re.sub(r"[’']s?$|[’']s$", "", word.casefold())
    if key[:1].isdigit():
        return key.replace(",", "")
    return key[:-3] + "y" if len(key) > 4 and key.endswith("ies") else key
