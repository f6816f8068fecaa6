"""Values that no instruction says and that the page has in some other form: what a field holds, the word at a place,
what stands beside a name, what a sum comes to, letters set apart. Core."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from agents.learned.candidates import PageCandidates
from agents.learned.features import goal_distances
from agents.learned.instruction import Instruction, phrase_at, tokens
from agents.learned.shown.places import places_named
from annotations.dom.elements import DescribedElement

SOURCES = ("held", "nth", "result", "joined", "presses")
MOST_PRESSES = 200  # of one action: as many as `agents/environments/acting.py` does
MIN_TEXT = 2  # words of a text that words are counted in
MOST_HELD = 10
LONGEST = 60  # characters of a text that is read as a sum

_NUMBER_OR_LETTER = r"(-?\d{1,6}|[a-z])"
_SUM = re.compile(rf"{_NUMBER_OR_LETTER}\s*([+\-−–*×x])\s*{_NUMBER_OR_LETTER}\s*=\s*(-?\d{{1,6}})?")
_EDGES = " .,;:!?\"'()"


def derived(page: PageCandidates, instruction: Instruction, into: DescribedElement) -> Iterator[tuple[str, str, bool]]:
    """(value, its source, whether it is the one whose place the instruction names), for a field to type into."""
    places = places_named(instruction)
    held = [e.value for e in page.everything if e.tag in ("input", "textarea") and e.value and e is not into]
    for number, value in enumerate(held[:MOST_HELD], 1):
        yield value, "held", number in places or (not places and len(held) == 1)
    for text in dict.fromkeys(e.text for e in page.everything if not e.interactive):
        words = text.split()
        if len(text) <= LONGEST and len(words) > 1 and all(len(word) == 1 and word.isalnum() for word in words):
            yield "".join(words), "joined", True
    for text in dict.fromkeys(_leaves(page)):
        if text not in instruction.text:
            yield from _of_text(text, places)


def presses(page: PageCandidates, instruction: Instruction) -> Iterator[str]:
    """The arrow key that leads from a number to the asked one, with how often it is to be pressed."""
    _, gap = goal_distances(page, instruction)
    if gap and gap == int(gap) and abs(gap) <= MOST_PRESSES:
        yield f"{'ArrowRight' if gap > 0 else 'ArrowLeft'} {abs(int(gap))}"


def _leaves(page: PageCandidates) -> list[str]:
    """The texts of elements that hold none with a text, in document order."""
    holders = {element.parent_id for element in page.everything if element.text}
    return [element.text for element in page.everything if element.text and element.node_id not in holders]


def _of_text(text: str, places: Collection[int]) -> Iterator[tuple[str, str, bool]]:
    found = _SUM.search(text) if len(text) <= LONGEST else None
    if found and (result := _result(*found.groups())) is not None:
        yield str(result), "result", True
    words = text.split()
    for place in places if len(words) >= MIN_TEXT else ():
        if place <= len(words) and (word := words[place - 1].strip(_EDGES)):
            yield word, "nth", True


def _result(left: str, sign: str, right: str, total: str | None) -> int | None:
    """What a sum comes to, or the unknown number of an equation; None where neither can be told."""
    if total is None:
        return _apply(int(left), sign, int(right)) if _is_number(left) and _is_number(right) else None
    if _is_number(left) == _is_number(right):
        return None
    known, wanted = int(left if _is_number(left) else right), int(total)
    if sign == "+":
        return wanted - known
    if sign in "-−–":
        return known - wanted if _is_number(left) else wanted + known
    return wanted // known if known and wanted % known == 0 else None


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _apply(left: int, sign: str, right: int) -> int:
    return left + right if sign == "+" else left - right if sign in "-−–" else left * right


def beside(page: PageCandidates) -> dict[str, str]:
    """Text of an element that holds no other -> the text of the one before it, which often is its name."""
    leaves, found = _leaves(page), dict[str, str]()
    for before, text in pairwise(leaves):
        found.setdefault(text, before)
    return found


def is_named(text: str, instruction: Instruction, common: Collection[str]) -> bool:
    """Whether the instruction says a text that not all instructions say."""
    own = tokens(text)
    return bool(phrase_at(own, instruction.lower)) and not all(word in common for word in own)
