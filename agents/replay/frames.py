"""The recorded page of a step as the replay page shows it: signed addresses to frame, and the pruned tree as lines."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from annotations.access.rules import Sight
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark
from annotations.models import Snapshot, Step
from annotations.pages.snapshot_host import page_address
from annotations.sandbox import page_questions
from annotations.text.amounts import amount

HIDDEN_PAGE: dict[str, Any] = {
    "before": None,
    "after": None,
    "raw": None,
    "raw_after": None,
    "screenshot": None,
    "place": None,
    "elements": 0,
    "bytes": 0,
    "hidden": True,
}


def page_view(request: HttpRequest, step: Step, marks: Sequence[Mark], sight: Sight) -> dict[str, Any]:
    """The frames of a step: {before, after, raw, raw_after, screenshot, elements, bytes, hidden}; what was not
    recorded, or is not shown to the user (`hidden`), is null. `raw` and `raw_after` are pages as they were recorded.

    `step`, which the user may see, comes with its snapshots. Marks are written into the page only where frames run no
    scripts; elsewhere the browser draws them.
    """
    if sight == Sight.PLACE:
        return HIDDEN_PAGE
    before, recorded = step.snapshot, step.raw_snapshot
    return {
        "before": _frame(request, before, marks),
        "after": _frame(request, step.snapshot_after, ()) if sight == Sight.GOLD else None,
        "raw": _frame(request, recorded, marks) if recorded and recorded.can_be_shown else None,
        "raw_after": _frame(request, step.raw_after(), ()) if sight == Sight.GOLD else None,
        "screenshot": reverse("api:screenshot-image", args=[step.screenshot.sha256]) if step.screenshot else None,
        "elements": before.node_count if before else 0,
        "bytes": before.raw_size if before else 0,
        "hidden": sight < Sight.GOLD,
    }


def own_page_view(
    request: HttpRequest,
    snapshot: Snapshot | None,
    marks: Sequence[Mark],
    gold: bool,
    picture: dict[str, Any] | None = None,
    after: Snapshot | None = None,
) -> dict[str, Any]:
    """The frames of an episode's step, as of `page_view`: its own page and the one `after` it, for those who may see
    what agents do there; and what a step's screenshot says of itself (`StepPicture.shown`)."""
    if not gold:
        return HIDDEN_PAGE
    shown: dict[str, Any] = {
        "before": _frame(request, snapshot, marks),
        "after": _frame(request, after, ()),
        "hidden": False,
    }
    if snapshot:
        shown |= {"elements": snapshot.node_count, "bytes": snapshot.raw_size}
    return HIDDEN_PAGE | shown | (picture or {})


def _frame(request: HttpRequest, snapshot: Snapshot | None, marks: Sequence[Mark]) -> dict[str, Any] | None:
    """A page to frame; None without one. `snapshot` is the page's checksum: a page that is shown already need not be
    loaded again. `plain`: the address without marks."""
    if snapshot is None:
        return None
    view = page_address(request, snapshot, marks=marks)
    plain = view.url if view.scripted else page_address(request, snapshot).url
    facts = {"url": view.url, "plain": plain, "sandbox": view.sandbox, "scripted": view.scripted}
    return {"snapshot": snapshot.sha256, **facts}


def pruned_lines(html: str, kept: Iterable[str], gold: Mapping[str, bool] = MappingProxyType({})) -> dict[str, Any]:
    """The page around the kept elements: {lines: [[depth, tag, text, node id]], cut, missing: how many are not on the
    page, gold: what is said where no gold element is among them}; with `error`, and no lines, where the page cannot be
    read. `gold`: whether each gold element was lost in cleaning."""
    named = list(kept)
    try:
        found = page_questions.pruned(html, named)
    except PageError as error:
        return {"lines": [], "cut": False, "missing": 0, "gold": "", "error": str(error)}
    shown = {*named, *(node for *_, node in found["lines"])}
    return found | {"gold": "" if gold.keys() & shown else _gold_left_out(len(named), gold)}


def _gold_left_out(kept: int, gold: Mapping[str, bool]) -> str:
    if not gold:
        return ""
    if all(gold.values()):
        return "the gold element is not in the recorded page"
    return f"the gold element is not in the pruned page: it is none of the {amount(kept, 'element')} that are kept"
