"""What an element has from those that it lies in and from those that lie in it, and which are hidden. Core.

People press the innermost element at a point, and that is often one without a name: an icon in a button that has one.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from agents.learned.candidates import PageCandidates
from agents.learned.instruction import Instruction
from agents.learned.mentions import MIN_VERBATIM, Columns
from annotations.dom.elements import DescribedElement

UP = 4  # how many elements around one are looked at for what it lies in


def family_columns(page: PageCandidates, instruction: Instruction, covered: np.ndarray, acted: np.ndarray) -> Columns:
    """Column name -> one float per candidate. `covered`: of each candidate the share of the asked words that its own
    words cover; `acted`: whether it was acted on."""
    place_of = {element.node_id: place for place, element in enumerate(page.candidates)}
    above = [around_ids(page, element) for element in page.candidates]
    outer = [next((place_of[node_id] for node_id in ids[:UP] if node_id in place_of), -1) for ids in above]
    inner: list[list[int]] = [[] for _ in outer]
    for place, holder in enumerate(outer):
        if holder >= 0:
            inner[holder].append(place)
    places = [
        max(_stands_at(name, instruction), _stands_at(element.attributes.get("id", ""), instruction, MIN_VERBATIM))
        for element, name in zip(page.candidates, page.names, strict=True)
    ]
    named = [place >= 0 for place in places]
    first = min((place for place, done in zip(places, acted, strict=True) if place >= 0 and not done), default=-1)
    hidden = [not _is_shown(element) for element in page.candidates]
    return {
        "lies_in": _column(holder >= 0 for holder in outer),
        "holds": _column(min(len(places), 4) / 4 for places in inner),
        "holds_one": _column(len(places) == 1 for places in inner),
        "alone_in": _column(holder >= 0 and len(inner[holder]) == 1 for holder in outer),
        "outer_covers": _column(covered[holder] if holder >= 0 else 0 for holder in outer),
        "inner_covers": _column(max((covered[place] for place in places), default=0) for places in inner),
        "outer_interactive": _column(holder >= 0 and page.candidates[holder].interactive for holder in outer),
        "as_written": _column(named),
        "as_written_alone": _column(said and sum(named) == 1 for said in named),
        "as_written_first": _column(
            said and place == first and not done for said, place, done in zip(named, places, acted, strict=True)
        ),
        "outer_as_written": _column(holder >= 0 and named[holder] for holder in outer),
        "inner_as_written": _column(any(named[place] for place in places) for places in inner),
        **_hidden_columns(page, above, named, hidden),
    }


def _hidden_columns(
    page: PageCandidates, above: Sequence[Sequence[str]], named: Sequence[bool], hidden: Sequence[bool]
) -> Columns:
    """Which candidates are hidden, and which are shown beside or around one that the instruction names and that is
    hidden: they may open it."""
    by_id = page.by_id
    openers = set()
    for ids, said, out_of_sight in zip(above, named, hidden, strict=True):
        if said and out_of_sight:
            openers |= {next((node_id for node_id in ids[:UP] if _is_shown(by_id[node_id])), "")} - {""}
    shown_named = any(said and not out_of_sight for said, out_of_sight in zip(named, hidden, strict=True))
    count = len(named)
    return {
        "hidden": _column(hidden),
        "holds_hidden_named": _column(
            element.node_id in openers and not out_of_sight
            for element, out_of_sight in zip(page.candidates, hidden, strict=True)
        ),
        "beside_hidden_named": _column(
            bool(openers & set(ids[:2])) and not out_of_sight for ids, out_of_sight in zip(above, hidden, strict=True)
        ),
        "any_shown_named": np.full(count, float(shown_named), dtype=np.float32),
        "any_hidden_named": np.full(count, float(bool(openers)), dtype=np.float32),
    }


def around_ids(page: PageCandidates, element: DescribedElement) -> list[str]:
    """The ids of all elements around one, the nearest first."""
    found: list[str] = []
    above = element.parent_id
    while above and above in page.by_id and above not in found:
        found.append(above)
        above = page.by_id[above].parent_id
    return found


def _is_shown(element: DescribedElement) -> bool:
    return element.bbox is None or min(element.bbox[2:]) > 0


def _stands_at(name: str, instruction: Instruction, least: int = 1) -> int:
    """Where a name of at least so many characters stands in the instruction letter by letter, and no part of a word:
    "ONE" in "Click button ONE", "(2,-1)" in "Click on (2,-1)."; -1 for nowhere."""
    if len(name.strip()) < least:
        return -1
    found = re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", instruction.text)
    return found.start() if found else -1


def _column(values: Iterable[float]) -> np.ndarray:
    return np.fromiter((float(value) for value in values), dtype=np.float32)
