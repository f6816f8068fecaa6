"""Finds private data in texts and pages: e-mail addresses, phone and card numbers, names, access tokens. Core: text in,
places out.

Only what patterns can find is found: not a name that is no common English given name followed by a capitalised word, a
number written in an unusual way, an address in words or in a picture. A name that is found may be that of a shop or a
street.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

KINDS = ("token", "email", "card", "phone", "name")  # of two that overlap the earlier kind counts
VERSION = 1  # of the patterns: results kept from others are not used
MOST_DIGITS = 15  # of a phone number (E.164)

# Given names that are neither usual words nor places, by how common they are in English-speaking countries.
GIVEN_NAMES = frozenset(
    """
    Aaron Abigail Adam Alan Albert Alexander Alice Amanda Amy Andrea Andrew Angela Anna Anne Anthony Arthur Ashley
    Barbara Benjamin Beverly Brenda Brian Bruce Catherine Christina Christine Christopher Cynthia Daniel David Deborah
    Debra Denise Dennis Diana Diane Donald Donna Dorothy Douglas Dylan Edward Elizabeth Emily Emma Eric Ethan Evelyn
    Frances Gabriel Gary George Gerald Gloria Gregory Hannah Harold Heather Helen Henry Isabella Jacob Jacqueline James
    Janet Janice Jason Jean Jeffrey Jennifer Jeremy Jerry Jesse Jessica Joan John Johnny Jonathan Jose Joseph Joshua
    Joyce Juan Judith Judy Julia Julie Justin Karen Katherine Kathleen Kathryn Keith Kelly Kenneth Kevin Kimberly
    Kyle Larry Laura Lauren Lawrence Linda Lisa Logan Margaret Maria Marie Marilyn Martha Mary Matthew Megan Melissa
    Michael Michelle Nancy Natalie Nathan Nicholas Nicole Noah Olivia Pamela Patricia Patrick Paul Peter Philip Rachel
    Ralph Raymond Rebecca Richard Robert Roger Ronald Roy Russell Ruth Ryan Samantha Samuel Sandra Sarah Scott Sean
    Sharon Shirley Sophia Stephanie Stephen Steven Susan Teresa Theresa Thomas Timothy Tyler Vincent Walter Wayne
    William Zachary
    """.split()
)

# What every match holds -> the pattern, which is only tried on texts that hold it.
_TOKENS = {
    "eyJ": re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),  # JSON web token
    "AKIA": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),  # AWS
    "ASIA": re.compile(r"\bASIA[0-9A-Z]{16}\b"),
    "gh": re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
    "github_pat_": re.compile(r"\bgithub_pat_\w{22,}"),
    "xox": re.compile(r"\bxox[abprs]-[\w-]{10,}"),  # Slack
    "earer ": re.compile(r"(?<=[Bb]earer )[\w.~+/-]{20,}=*"),
}
# Only in what was typed: pages are full of long hexadecimal names of files.
_SECRET = re.compile(r"\b[0-9a-f]{32,}\b|\b[0-9A-F]{32,}\b|(?<![\w+/=-])[\w+/-]{40,}={0,2}(?![\w+/=-])")
_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24})(?![\w-])", re.ASCII)
_FILE_TYPES = {"png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "css", "js"}  # "logo@2x.png" is none
_CARD = re.compile(r"(?<![\w.,+-])(?:\d[ -]?){12,18}\d(?![\w-]|[.,]\d)", re.ASCII)
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|3[068]\d{12}"
)
_PHONE = re.compile(
    r"(?<![\w.,+/-])(?:"
    r"\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}"  # +44 20 7946 0958
    r"|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}"  # (212) 555-0142
    r"|0\d{2,4}[ /-]\d{3,4}[ -]?\d{3,5}"  # 020 7946 0958
    r")(?![\w/-]|[.,]\d)",
    re.ASCII,
)
_NUMBER = re.compile(r"\d[\d ().,/+-]{6,}\d", re.ASCII)  # what cards and phones are looked for in: much quicker
_NAME = re.compile(  # the family name is looked at only, for it may be a given name that begins the next one
    r"([A-Z](?<!\w[A-Z])[a-z]+)(?=((?: [A-Z]\.)? (?!And\b|Or\b|The\b)[A-Z][a-z]+(?:-[A-Z][a-z]+)?\b))"
)


class Found(NamedTuple):
    """A piece of a text that looks private, text[start:end]."""

    kind: str
    start: int
    end: int


def scan(text: str, typed: bool = False) -> list[Found]:
    """The places that look private, in the order of the text, without overlaps. `typed`: by a person, so that long
    random strings count as access tokens too."""
    found: list[Found] = []
    for kind in KINDS:
        for start, end in _FINDERS[kind](text):
            found.append(Found(kind, start, end))
    if typed:
        found += [Found("token", *match.span()) for match in _SECRET.finditer(text) if _is_random(match[0])]
    found.sort(key=lambda piece: (KINDS.index(piece.kind), piece.start))
    kept: list[Found] = []
    taken = bytearray(len(text) if found else 0)
    for piece in found:
        if not any(taken[piece.start : piece.end]):
            taken[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
            kept.append(piece)
    return sorted(kept, key=lambda piece: piece.start)


def fingerprint(kind: str, text: str) -> str:
    """A key for a found text that does not tell the text."""
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()


def replacement(kind: str) -> str:
    """The text that is put in the place of a private one."""
    return f"[{kind}]"


def take_out(text: str, private: str, put: str) -> tuple[str, list[int]]:
    """(the text with `private` replaced wherever it stands alone by what is `put` there, the places where it began)."""
    alone = re.compile(rf"(?<!\w){re.escape(private)}(?!\w)")
    places = [match.start() for match in alone.finditer(text)]
    return (alone.sub(put, text) if places else text), places


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON value with every string in it changed, keys left as they are."""
    if isinstance(value, dict):
        return {key: map_strings(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [map_strings(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def luhn(digits: str) -> bool:
    """Whether the last digit checks the others, as on payment cards."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _tokens(text: str) -> list[tuple[int, int]]:
    return [match.span() for part, pattern in _TOKENS.items() if part in text for match in pattern.finditer(text)]


def _emails(text: str) -> list[tuple[int, int]]:
    if "@" not in text:
        return []
    return [match.span() for match in _EMAIL.finditer(text) if match[1].lower() not in _FILE_TYPES]


def _cards(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _numbers(_CARD, text) if _is_card(re.sub("[ -]", "", match[0]))]


def _numbers(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches of the pattern in or around the long numbers of a text; a match may begin two characters before the first
    digit."""
    for number in _NUMBER.finditer(text):
        yield from pattern.finditer(text, max(0, number.start() - 2), number.end() + 2)


def _is_card(digits: str) -> bool:
    return bool(_ISSUERS.fullmatch(digits)) and luhn(digits)


def _phones(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _numbers(_PHONE, text) if 8 <= len(re.sub(r"\D", "", match[0])) <= MOST_DIGITS]


def _names(text: str) -> list[tuple[int, int]]:
    return [(match.start(), match.end(2)) for match in _NAME.finditer(text) if match[1] in GIVEN_NAMES]


def _is_random(text: str) -> bool:
    """Whether the text mixes letters and digits, as no word and no number does."""
    return any(letter.isdigit() for letter in text) and any(letter.isalpha() for letter in text)


_FINDERS = {"token": _tokens, "email": _emails, "card": _cards, "phone": _phones, "name": _names}
