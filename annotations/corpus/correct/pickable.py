"""The elements of a recorded page as people choose one of them: what each is called, and which one a click on the page
means. Core."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from annotations.dom.tree_rows import MAX_TEXT, PageTreeRow

MAX_WITHIN = 40  # elements that are looked at for what stands in another: a hostile page is deep


class ClickedMeaning(NamedTuple):
    """`meant`: element that may be clicked -> the choice that this means: itself, else the nearest around it; elements
    without one are left out. `outer`: choice -> the next one around it."""

    meant: dict[str, str]
    outer: dict[str, str]


def names_of(rows: Sequence[PageTreeRow]) -> dict[str, str]:
    """What each element is called: what it says itself, else what stands in it; "" where nothing does."""
    return {str(row[1]): str(row[3]) or _within(rows, place) for place, row in enumerate(rows) if row[1]}


def _within(rows: Sequence[PageTreeRow], place: int) -> str:
    depth, said = rows[place][0], ""
    for row in rows[place + 1 : place + 1 + MAX_WITHIN]:
        if row[0] <= depth or len(said) >= MAX_TEXT:
            break
        said = f"{said} {row[3]}".strip()
    return said if len(said) <= MAX_TEXT else f"{said[: MAX_TEXT - 1]}…"


def meaning_of_clicks(rows: Sequence[PageTreeRow], choices: Collection[str]) -> ClickedMeaning:
    found = ClickedMeaning({}, {})
    path: list[tuple[int, str]] = []  # depth and meaning of the elements around the row
    for row in rows:
        depth, node_id = int(row[0]), str(row[1])
        while path and path[-1][0] >= depth:
            path.pop()
        around = path[-1][1] if path else ""
        is_choice = node_id in choices
        if is_choice and around:
            found.outer.setdefault(node_id, around)
        meant = node_id if is_choice else around
        path.append((depth, meant))
        if meant and node_id:
            found.meant.setdefault(node_id, meant)
    return found
