"""What a step's action changed: the elements by which the page after it differs, as rows for people to read."""

from dataclasses import dataclass
from typing import Any

from annotations.dom.limits import PageError
from annotations.dom.marks import MAX_MARKS, Mark
from annotations.sandbox import page_questions
from annotations.sandbox.processes import PagesBusy, PageTooHeavy
from annotations.text.diff import MarkedPiece, changed, runs

MOST_ELEMENTS = 20_000  # of a page that is compared while somebody waits
SHOWN = 400  # rows of a kind
LONGEST = 500  # characters of an element's line

ChangedLine = tuple[str, str, str]  # node id, role, content


@dataclass(frozen=True)
class ChangeRow:
    """One element that differs. Pieces of its text that are marked `del` were there before only, those marked `ins` are
    there now only."""

    kind: str
    node_id: str
    role: str
    before: list[MarkedPiece]
    after: list[MarkedPiece]


def changes_between(before: str | None, after: str | None) -> dict[str, Any]:
    """The differences of two pages for a template: `rows`, `counts` of each kind and whether some are left out (`cut`),
    or an `error` in words. `nodes`: (node id, kind) of all of them in either page, `elements`: the element that each is
    shown by."""
    if before is None or after is None:
        return {"error": "The page after this step was not recorded."}
    try:
        found = page_questions.differences(before, after, MOST_ELEMENTS, SHOWN)
    except (PageTooHeavy, PagesBusy) as error:
        return {"error": f"The pages could not be compared: {error}."}
    except PageError as error:
        return {"error": f"The pages cannot be compared: {error}."}
    rows = [
        *map(_added, found["added"]),
        *map(_removed, found["removed"]),
        *(_changed(*two) for two in found["changed"]),
    ]
    cut = max(found["counts"].values()) > SHOWN
    nodes = [
        [(line[0], "removed") for line in found["removed"]] + [(old[0], "changed") for old, _ in found["changed"]],
        [(line[0], "added") for line in found["added"]] + [(new[0], "changed") for _, new in found["changed"]],
    ]
    more = {"nodes": nodes, "elements": found["elements"]}
    return {"rows": rows, "counts": found["counts"], "cut": cut, "shown": SHOWN} | more


def marks_of_changes(before: str | None, after: str | None) -> dict[str, Any]:
    """The elements that differ as marks in the page `before`, where they were removed or changed, and in that `after`,
    where they were added or changed; none, and an `error` in words, where the pages cannot be compared."""
    told = changes_between(before, after)
    if "error" in told:
        return {"before": [], "after": [], "error": told["error"]}
    marks: dict[str, Any] = {"error": ""}
    for side, nodes, elements in zip(("before", "after"), told["nodes"], told["elements"], strict=True):
        shown: dict[str, Mark] = {}
        for node, kind in nodes:
            if element := elements.get(node):
                shown.setdefault(element, Mark(element, "changed", kind))
        marks[side] = [mark.message() for mark in list(shown.values())[:MAX_MARKS]]
    return marks


def _added(line: ChangedLine) -> ChangeRow:
    return ChangeRow("added", *line[:2], [], [MarkedPiece(_text(line), "ins")])


def _removed(line: ChangedLine) -> ChangeRow:
    return ChangeRow("removed", *line[:2], [MarkedPiece(_text(line), "del")], [])


def _changed(before: ChangedLine, after: ChangedLine) -> ChangeRow:
    texts = _text(before), _text(after)
    gone, come = changed(*texts)
    return ChangeRow("changed", *after[:2], runs(texts[0], gone), runs(texts[1], come))


def _text(line: ChangedLine) -> str:
    _, role, content = line
    return f"{role}{content}"[:LONGEST]
