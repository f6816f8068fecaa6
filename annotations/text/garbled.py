"""Punctuation that nobody writes on purpose, as models leave it behind where words were taken out. Core."""

import re
from collections.abc import Iterable

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
