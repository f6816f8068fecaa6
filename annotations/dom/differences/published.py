"""The three ways in which WMA's published code and data tell two pages apart (sources.md B2.2). Core.

They are kept to read and to compare with published records, quirks and all: the default is `matching.py`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from munkres import Munkres

from annotations.dom.differences.assignment import MatchedPlaces
from annotations.dom.differences.items import Change, PageDifference, PageItem, published_items

Matching = Callable[[Sequence[PageItem], Sequence[PageItem]], list[MatchedPlaces]]

UNCHANGED = "Previous Action did not make any changes"
NO_ACTION = "None"


def minimised(before: str, after: str) -> PageDifference:
    """The difference as the paper describes it: the cheapest matching, equal content first, then equal roles, then near
    ids."""
    return _by_ids(before, after, cheapest)


def maximised(before: str, after: str) -> PageDifference:
    """The difference as in the published WebArena records, whose solver maximised what is a cost (quirk Q17), so that
    two equal pages differ in every element."""
    return _by_ids(before, after, dearest)


def maximised_by_text(before: str, after: str) -> PageDifference:
    """The difference as in the published Mind2Web records: matched and changed as in `maximised`, but an element whose
    role and content are on the other page is neither new nor gone."""
    old, new = published_items(before), published_items(after)
    pairs = dearest(old, new)
    matched = {column for _, column in pairs}
    known, left = _texts(old), _texts(new)
    return PageDifference(
        tuple(item for place, item in enumerate(new) if place not in matched and _text(item) not in known),
        tuple(item for item in old if _text(item) not in left),
        _changes(old, new, pairs),
    )


def published_text(difference: PageDifference, action: str = "") -> str:
    """The difference as the published records write it; `action` "None" is the first step, before which nothing was."""
    if action == NO_ACTION:
        return UNCHANGED
    if not difference:
        return f"{UNCHANGED}."
    sections = zip(("New", "Deleted", "Updated"), _lists(difference), strict=True)
    return "\n\n".join(f"{name} items:\n" + ("\n".join(texts) or "None") for name, texts in sections) + "\n"


def published_lists(difference: PageDifference) -> tuple[str, str, str]:
    """New, deleted and updated items, each as one text with an item on each line; "None" where there are none."""
    new, deleted, updated = ("\n".join(texts).strip() or "None" for texts in _lists(difference))
    return new, deleted, updated


def cheapest(old: Sequence[PageItem], new: Sequence[PageItem]) -> list[MatchedPlaces]:
    """The cheapest matching. Where several are equally cheap, it is the one of the `munkres` package, so costs are
    summed in the order of the published code."""
    if not old or not new:
        return []
    costs = [[-10.0 * (a[3] == b[3]) - 0.5 * (a[2] == b[2]) + _apart(a, b) / 10 for b in new] for a in old]
    return [(int(row), int(column)) for row, column in Munkres().compute(costs)]


def dearest(old: Sequence[PageItem], new: Sequence[PageItem]) -> list[MatchedPlaces]:
    if not old or not new:
        return []
    costs = -100.0 * _equal(old, new, "content") - 0.5 * _equal(old, new, "role")
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(costs.astype(np.float32), maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _by_ids(before: str, after: str, match: Matching) -> PageDifference:
    """An item of the first page is gone where its id is not among the matched ones of the second (quirk Q18)."""
    old, new = published_items(before), published_items(after)
    if not new:  # nothing was matched, and the published code goes on with the ids of a page that has none
        return PageDifference()
    pairs = match(old, new)
    columns = {column for _, column in pairs}
    matched = {new[column].node_id for column in columns}
    return PageDifference(
        tuple(item for item in new if item.node_id not in matched),
        tuple(item for item in old if item.node_id not in matched),
        _changes(old, new, pairs),
    )


def _changes(old: Sequence[PageItem], new: Sequence[PageItem], pairs: Sequence[MatchedPlaces]) -> tuple[Change, ...]:
    return tuple(Change(old[row], new[column]) for row, column in pairs if old[row] != new[column])


def _lists(difference: PageDifference) -> tuple[list[str], list[str], list[str]]:
    return (
        [item.text for item in difference.added],
        [item.text for item in difference.removed],
        [change.after.text for change in difference.changed],
    )


def _equal(old: Sequence[PageItem], new: Sequence[PageItem], field: str) -> np.ndarray:
    rows, columns = (np.array([getattr(item, field) for item in page], dtype=object) for page in (old, new))
    equal: np.ndarray = rows[:, None] == columns[None, :]
    return equal.astype(np.float64)


def _apart(a: PageItem, b: PageItem) -> int:
    return abs(int(a.node_id) - int(b.node_id))


def _text(item: PageItem) -> tuple[str, str]:
    return item.role, item.content


def _texts(page: Sequence[PageItem]) -> set[tuple[str, str]]:
    return {_text(item) for item in page}
