"""Punctuation that nobody writes on purpose, as models leave it behind where words were taken out, and texts that show
nothing. Core."""

import re
import unicodedata
from collections.abc import Iterable

BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and signs that show nothing
AROUND = 20  # characters on each side that are shown
# Pages are hostile, and so are models: none of these looks twice at the same characters.
_GARBLED = re.compile(
    r",[ \t]*+(?:[,;]|\.(?![\d.]))"  # a comma before another one, or before the end of a sentence
    r"|(?<=\S)[ \t],"  # a space before a comma
    r"|(?<![./\\])\.\.(?![./\\])"  # two full stops: three are an ellipsis, and "../" is a path
)


def garbled(text: str, sources: Iterable[str] = ()) -> str:
    """The first garbled punctuation of a text, with what stands around it; "" where there is none, or only such as one
    of the sources has too."""
    known = {found[0] for source in sources for found in _GARBLED.finditer(source)}
    for found in _GARBLED.finditer(text):
        if found[0] not in known:
            return text[max(0, found.start() - AROUND) : found.end() + AROUND].strip()
    return ""


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: it has only spaces, and characters that are invisible or change others."""
    return all(char in BLANK or unicodedata.category(char)[0] in "ZCM" for char in text)
