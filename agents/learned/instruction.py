"""Read an instruction: its words, quoted parts, numbers, dates and times. Core."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.words.values import quoted
from annotations.text.stop_words import NO_MENTION

WORD = re.compile(r"[@#]?\w+(?:[.:'’/@-]\w+)*")
MIN_PLURAL = 4  # letters; shorter words keep their s
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    "december",
)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
_SLASH_DATE = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")  # month, day, year
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WORD_DATE = re.compile(r"\b([A-Z][a-z]+)\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?([A-Z][a-z]+)\s+(\d{4})\b")
_TIME = re.compile(r"\b(\d{1,2}):(\d\d)\s*([AaPp])?\.?[Mm]?\b")
_SEPARATOR = re.compile(r",|>|\band\b|\bthen\b")

Date = tuple[int, int, int]  # year, month, day


@dataclass(frozen=True)
class Instruction:
    """An instruction, read once."""

    text: str
    words: tuple[str, ...]  # as written
    lower: tuple[str, ...]  # in their normal form
    starts: tuple[int, ...]  # character offsets of the words
    quotes: tuple[str, ...]
    numbers: tuple[float, ...]
    dates: tuple[Date, ...]
    times: tuple[tuple[int, int], ...]  # 24 hours
    parts: int  # what commas, "and" and "then" separate


def tokens(text: str) -> list[str]:
    """Words in their normal form; a text without any word character is one word ("+", ">>")."""
    found = [normal(match.group()) for match in WORD.finditer(text)]
    return found or ([text.strip()] if text.strip() else [])


def normal(word: str) -> str:
    """Lower case, without the ending of a possessive or plural."""
    word = word.lower()
    if word[-2:] in ("'s", "’s"):
        return word[:-2]
    is_plural = len(word) >= MIN_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural and word not in NO_MENTION else word


@lru_cache(maxsize=4096)
def read(text: str) -> Instruction:
    matches = list(WORD.finditer(text))
    words = tuple(match.group() for match in matches)
    return Instruction(
        text=text,
        words=words,
        lower=tuple(normal(word) for word in words),
        starts=tuple(match.start() for match in matches),
        quotes=tuple(quoted(text)),
        numbers=tuple(float(found) for found in _NUMBER.findall(text)),
        dates=tuple(dates(text)),
        times=tuple(times(text)),
        parts=len(_SEPARATOR.findall(text)) + 1,
    )


def dates(text: str) -> list[Date]:
    """Dates as (year, month, day): 12/31/2016 (the American order), 2016-12-31, December 31, 2016 and the like."""
    found = [(int(y), int(m), int(d)) for m, d, y in _SLASH_DATE.findall(text)]
    found += [(int(y), int(m), int(d)) for y, m, d in _ISO_DATE.findall(text)]
    named = [(m, d, y) for m, d, y in _WORD_DATE.findall(text)] + [(m, d, y) for d, m, y in _DAY_FIRST.findall(text)]
    found += [(int(y), month, int(d)) for m, d, y in named if (month := month_number(m))]
    return list(dict.fromkeys(found))


def month_number(word: str) -> int:
    """1..12 for a month's name or its first three letters, else 0."""
    word = word.lower().rstrip(".")
    for number, name in enumerate(MONTHS, 1):
        if word == name or (len(word) == 3 and name.startswith(word)):
            return number
    return 0


def times(text: str) -> list[tuple[int, int]]:
    """Times of day as (hour, minute) on the 24-hour clock."""
    found = []
    for hour, minute, half in _TIME.findall(text):
        shift = {"a": 0, "p": 12}.get(half.lower())
        found.append((int(hour) if shift is None else int(hour) % 12 + shift, int(minute)))
    return found


def phrase_at(phrase: Sequence[str], lower: Sequence[str]) -> list[int]:
    """Places in `lower` where the words of the phrase stand one after the other."""
    if not phrase:
        return []
    size, first = len(phrase), phrase[0]
    phrase = tuple(phrase)
    return [i for i in range(len(lower) - size + 1) if lower[i] == first and tuple(lower[i : i + size]) == phrase]


def ordinal_words(number: int) -> set[str]:
    """ "2nd" and "second" for 2."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    words = {f"{number}{ending}"}
    return words | {ORDINALS[number - 1]} if number <= len(ORDINALS) else words
