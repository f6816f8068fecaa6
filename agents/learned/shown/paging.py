"""Lists that go on on further pages: "the 5th result" is the second of the second page, where one shows three. Core."""

from collections import defaultdict

import numpy as np

from agents.learned.candidates import PageCandidates
from agents.learned.instruction import Instruction
from agents.learned.mentions import Columns
from agents.learned.shown.places import places_named
from annotations.dom.elements import DescribedElement

AT = frozenset({"active", "current", "selected"})  # classes of the number of the page that is shown
LEAST = 2  # pages, and things on a page


def paging_columns(page: PageCandidates, instruction: Instruction) -> Columns:
    """Column name -> one float per candidate: whether it is what the place that the instruction names means, counted
    from the first page on, and whether it leads to the page where that is."""
    count = len(page.candidates)
    columns = {name: np.zeros(count, dtype=np.float32) for name in ("paged", "is_paged", "leads_to_page")}
    numbered = {int(e.text): place for place, e in enumerate(page.candidates) if _is_page_number(e)}
    places, shown = places_named(instruction), _shown(page, numbered)
    if not places or shown is None or sorted(numbered) != list(range(1, len(numbered) + 1)):
        return columns
    columns["paged"][:] = 1
    for things in _lists(page, set(numbered.values())):
        wanted, place = divmod(places[0] - 1, len(things))
        if wanted + 1 != shown and wanted + 1 in numbered:
            columns["leads_to_page"][numbered[wanted + 1]] = 1
        elif wanted + 1 == shown and place < len(things):
            columns["is_paged"][things[place]] = 1
    return columns


def _is_page_number(element: DescribedElement) -> bool:
    return element.interactive and element.text.isdigit() and len(element.text) < LEAST + 1


def _shown(page: PageCandidates, numbered: dict[int, int]) -> int | None:
    """The number of the page that is shown; None where none is marked or there is but one."""
    if len(numbered) < LEAST:
        return None
    for number, place in numbered.items():
        element = page.candidates[place]
        around = page.by_id.get(element.parent_id or "", element)
        if AT & {word for one in (element, around) for word in one.attributes.get("class", "").lower().split()}:
            return number
    return None


def _lists(page: PageCandidates, but: set[int]) -> list[list[int]]:
    """Places of links that are alike, as the titles of results are."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    numbers = {page.candidates[place].attributes.get("class", "") for place in but}
    for place, element in enumerate(page.candidates):
        css = element.attributes.get("class", "")
        if place not in but and element.interactive and element.tag == "a" and css not in numbers:
            alike[element.tag, css].append(place)
    return [places for places in alike.values() if len(places) >= LEAST]
