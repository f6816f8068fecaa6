"""The cheapest, shortest or longest of things that are alike, by what stands around each. Core."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from agents.learned.candidates import PageCandidates
from agents.learned.family import around_ids
from agents.learned.instruction import Instruction
from agents.learned.mentions import Columns

_PRICE = re.compile(r"[$€£]\s?(\d{1,9}(?:[.,]\d{2})?)")
_HOURS, _MINUTES = re.compile(r"\b(\d{1,4})\s?h(?:ours?)?\b"), re.compile(r"\b(\d{1,4})\s?m(?:in(?:utes?)?)?\b")


def _price(text: str) -> float | None:
    found = _PRICE.search(text)
    return float(found[1].replace(",", ".")) if found else None


def _duration(text: str) -> float | None:
    hours, minutes = _HOURS.search(text), _MINUTES.search(text)
    if not hours and not minutes:
        return None
    return 60.0 * int(hours[1] if hours else 0) + int(minutes[1] if minutes else 0)


_BEST: dict[str, tuple[Callable[[str], float | None], int]] = {
    **dict.fromkeys(("cheapest", "lowest"), (_price, 1)),
    **dict.fromkeys(("costliest", "expensive", "dearest"), (_price, -1)),
    **dict.fromkeys(("shortest", "fastest", "quickest"), (_duration, 1)),
    **dict.fromkeys(("longest", "slowest"), (_duration, -1)),
}
"""Word -> how what it compares is read, and 1 where the least is meant, -1 where the most is."""


def best_columns(page: PageCandidates, instruction: Instruction) -> Columns:
    """Column name -> one float per candidate: whether it is the one of its kind that the instruction compares."""
    columns = {name: np.zeros(len(page.candidates), dtype=np.float32) for name in ("compared", "is_best")}
    asked = next((_BEST[word] for word in instruction.lower if word in _BEST), None)
    if asked is None:
        return columns
    read, sign = asked
    for places, texts in _alike(page):
        values = [read(text) for text in texts]
        known = [sign * value for value in values if value is not None]
        if len(known) == len(places):
            columns["compared"][places] = 1
            columns["is_best"][places[int(np.argmin(known))]] = 1
    return columns


def _alike(page: PageCandidates) -> list[tuple[list[int], list[str]]]:
    """Candidates that can be acted on and are alike, with the text of the largest block that holds one of them."""
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, element in enumerate(page.candidates):
        if element.interactive:
            kinds[element.tag, element.attributes.get("class", "")].append(place)
    return [(places, _blocks(page, places)) for places in kinds.values() if len(places) > 1]


def _blocks(page: PageCandidates, places: Sequence[int]) -> list[str]:
    around = [[page.candidates[place].node_id, *around_ids(page, page.candidates[place])] for place in places]
    holds = Counter(node_id for ids in around for node_id in ids)
    return [page.by_id[[node_id for node_id in ids if holds[node_id] == 1][-1]].text for ids in around]
