"""Three-way merging: two changes of one text, or of one list of mentions, made from the same beginning. Core.

Texts are merged by words. Changes that overlap or touch are never merged: people decide about those.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from annotations.text.opcodes import opcodes

_WORD = re.compile(r"\s+|\w+|[^\w\s]")

# One changed stretch: the tokens `start` .. `end` of the beginning became `tokens`.
Hunk = tuple[int, int, list[str]]


def pieces(text: str) -> list[str]:
    """Words, single punctuation marks and runs of white space; together they are the text."""
    return _WORD.findall(text)


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """The text with both changes of `base`; None when they overlap or touch and are not the same."""
    if mine == theirs or theirs == base:
        return mine
    if mine == base:
        return theirs
    beginning = pieces(base)
    hunks = _joined(_hunks(beginning, pieces(mine)), _hunks(beginning, pieces(theirs)))
    if hunks is None:
        return None
    merged, reached = [], 0
    for start, end, tokens in hunks:
        merged += beginning[reached:start] + tokens
        reached = end
    return "".join(merged + beginning[reached:])


def merge_lists(
    base: Sequence[Any], mine: Sequence[Any], theirs: Sequence[Any], key: Callable[[Any], Any]
) -> list[Any] | None:
    """The list with both changes of `base`; None when one thing, told by its key, was changed in two ways.

    The order is that of `theirs`, followed by what is only in `mine`.
    """
    before, own, other = ({key(thing): thing for thing in things} for things in (base, mine, theirs))
    merged = []
    for name in dict.fromkeys([*other, *own, *before]):
        first, a, b = before.get(name), own.get(name), other.get(name)
        if a != b and a != first and b != first:
            return None
        kept = a if b == first else b
        if kept is not None:
            merged.append(kept)
    return merged


def _hunks(before: list[str], after: list[str]) -> list[Hunk]:
    shorter = min(len(before), len(after))
    same = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    left = shorter - same
    tail = next((i for i in range(left) if before[-1 - i] != after[-1 - i]), left)
    middle = before[same : len(before) - tail], after[same : len(after) - tail]
    changes = opcodes(*middle)
    return [(same + a, same + b, middle[1][c:d]) for tag, a, b, c, d in changes if tag != "equal"]


def _joined(mine: list[Hunk], theirs: list[Hunk]) -> list[Hunk] | None:
    """Both lists as one, in order, the same change once; None when two different ones overlap or touch."""
    hunks = sorted({(start, end, tuple(tokens)) for start, end, tokens in [*mine, *theirs]})
    for (_, end, _), (start, _, _) in pairwise(hunks):
        if start <= end:
            return None
    return [(start, end, list(tokens)) for start, end, tokens in hunks]
