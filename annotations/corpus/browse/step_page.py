"""What the step page shows: the list of conversations, turns and steps, and one step's evidence.

`rules.Sight` says how much of a step: where gold is hidden, every trace of it is left out (the order of candidates,
marks, action representations, and the pages of all steps but the first).
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from annotations.access import rules
from annotations.access.rules import Sight
from annotations.corpus.browse.changes import changes_between
from annotations.corpus.forms import ConversationFilterForm
from annotations.datasets.records import CandidateRecord
from annotations.dom import tree_rows
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark
from annotations.models import Conversation, Rationale, Snapshot, Step, Turn
from annotations.pages.snapshot_host import page_address
from annotations.sandbox import page_questions
from annotations.sandbox.processes import PagesBusy, PageTooHeavy
from annotations.sandbox.reading import MAX_TEXT

TABS = (("page", "Page"), ("tree", "Tree"), ("accessibility", "Accessibility"), ("changes", "Changes"), ("raw", "Raw"))
LISTED_BEFORE, LISTED_AFTER = 15, 35
MAX_CANDIDATES = 50
HIDDEN = "The page is hidden with the gold: it shows what the action before it did."


@dataclass(frozen=True)
class CandidateRow:
    node_id: str
    tag: str
    label: str
    gold: bool
    on_page: bool


@dataclass
class StepPage:
    """The template's context; everything is read when it is made."""

    conversation: Conversation
    turns: list[Turn]
    step: Step | None
    sees_gold: bool
    tab: str
    of: str  # which page the tab "page" renders: "" as recorded, "cleaned" as agents get it
    query: str  # filter, tab and page, for links to other steps and conversations
    listed: list[Conversation] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)  # previous_step, next_turn, next_conversation, …
    gold_ids: list[str] = field(default_factory=list)
    candidates: list[CandidateRow] = field(default_factory=list)
    candidate_count: int = 0
    panel: dict[str, Any] = field(default_factory=dict)
    rationales: list[Rationale] = field(default_factory=list)  # what people wrote first, newest first
    may_explain: bool = False
    may_flag: bool = False
    number: int = 0  # of the step in its conversation
    step_count: int = 0


def step_page(request: HttpRequest, conversation: Conversation, step_pk: int | None) -> StepPage:
    """The page of one step; of the first one without `step_pk`. Four queries, and a few for the list."""
    turns = list(conversation.turns.all())
    steps = [step for turn in turns for step in turn.steps.all()]
    place = next((i for i, step in enumerate(steps) if step.pk == step_pk), 0)
    step = steps[place] if steps else None
    filters = ConversationFilterForm(request.GET, conversation.dataset)
    tab = _one_of(request.GET.get("tab"), dict(TABS), "page")
    of = _one_of(request.GET.get("of"), {"cleaned"}, "")
    page = StepPage(
        conversation=conversation,
        turns=turns,
        step=step,
        sees_gold=rules.rights_of(request).sees_gold(conversation.dataset.project_id, conversation.split),
        tab=tab,
        of=of,
        query=_query(filters, tab, of),
        number=place + 1,
        step_count=len(steps),
    )
    around = _around(conversation, filters)
    page.listed = [*around[0], conversation, *around[1]]
    page.links = _links(page.query, steps, place, around)
    if step is not None:
        _add_evidence(request, page, step)
    return page


def tree_fragment(step: Step, gold_ids: list[str], node_id: str, first: int, last: int | None):
    """The rows below one node of a step's page, for a branch of the tree that the viewer opens."""
    return page_questions.children(_content(step.snapshot), node_id, gold_ids, first, last)


def _one_of(value: str | None, known: Collection[str], default: str) -> str:
    return value if value is not None and value in known else default


def _query(filters: ConversationFilterForm, tab: str, of: str) -> str:
    chosen = filters.active() | ({"tab": tab} if tab != "page" else {}) | ({"of": of} if of else {})
    return f"?{urlencode(chosen)}" if chosen else ""


def _around(
    conversation: Conversation, filters: ConversationFilterForm
) -> tuple[list[Conversation], list[Conversation]]:
    """The conversations just before and after this one in the filtered list; not all of it, as a dataset may have
    thousands."""
    rows: QuerySet = filters.apply(conversation.dataset.conversations.all()).select_related("website")
    here = {"position": conversation.position, "id": conversation.pk}
    before = rows.filter(Q(position__lt=here["position"]) | Q(position=here["position"], id__lt=here["id"]))
    after = rows.filter(Q(position__gt=here["position"]) | Q(position=here["position"], id__gt=here["id"]))
    nearest = list(before.order_by("-position", "-id")[:LISTED_BEFORE])
    return nearest[::-1], list(after.order_by("position", "id")[:LISTED_AFTER])


def _links(query: str, steps: list[Step], place: int, around: tuple[list, list]) -> dict[str, str]:
    """The addresses that keys lead to (previous and next step, turn, conversation); those that do not exist are left
    out."""
    found: dict[str, Step | Conversation] = {}
    if place > 0:
        found["previous_step"] = steps[place - 1]
        found["previous_turn"] = _turn_start(steps, place)
    if place + 1 < len(steps):
        found["next_step"] = steps[place + 1]
    following = next((step for step in steps[place + 1 :] if step.turn_id != steps[place].turn_id), None)
    if following:
        found["next_turn"] = following
    if around[0]:
        found["previous_conversation"] = around[0][-1]
    if around[1]:
        found["next_conversation"] = around[1][0]
    names = {name: "step" if isinstance(row, Step) else "conversation" for name, row in found.items()}
    return {name: reverse(names[name], args=[row.pk]) + query for name, row in found.items()}


def _turn_start(steps: list[Step], place: int) -> Step:
    """The first step of the turn at `place`; where that step is the one shown, the first step of the turn before."""
    turn = steps[place].turn_id if steps[place - 1].turn_id == steps[place].turn_id else steps[place - 1].turn_id
    return next(step for step in steps if step.turn_id == turn)


def sight_of(request: HttpRequest, step: Step, project_id: int, split: str) -> Sight:
    """How much of a step, which comes with its turn, is shown to the user."""
    return rules.rights_of(request).sight(project_id, split, opening=rules.is_opening(step))


def _add_evidence(request: HttpRequest, page: StepPage, step: Step) -> None:
    stored = Step.objects.select_related("turn", "snapshot__dictionary", "raw_snapshot__dictionary").get(pk=step.pk)
    project_id = page.conversation.dataset.project_id
    sight = sight_of(request, stored, project_id, page.conversation.split)
    if sight == Sight.PLACE:
        page.panel = {"error": HIDDEN, "hidden": True}
        return
    if sight == Sight.GOLD:
        page.gold_ids = step.gold_ids()
        rows = stored.rationales.select_related("author").order_by("source", "-created_at", "-pk")  # "human" < "model"
        page.rationales = list(rows)
        rights = rules.rights_of(request)
        page.may_explain = rights.can("annotate", project_id)
        page.may_flag = rights.can("annotate", project_id) or rights.can("review", project_id)
    view = _view(stored, page)
    page.candidates, page.candidate_count = _candidates(stored, view, page.gold_ids, sight)
    if page.tab == "changes":  # the page after shows what the gold action did
        page.panel = changes_between(*stored.pages_around) if sight == Sight.GOLD else {"error": HIDDEN, "hidden": True}
    else:
        _add_panel(request, page, stored, view)


def _add_panel(request: HttpRequest, page: StepPage, stored: Step, view: dict[str, Any]) -> None:
    """Add the content of the tab that was asked for: raw HTML, tree, accessibility tree or rendered page."""
    if page.tab == "raw":
        content = _content(stored.raw_snapshot or stored.snapshot)
        page.panel = _text_panel(content, len(content))
        page.panel["cleaned"] = stored.raw_snapshot is None
    elif "error" in view:
        page.panel = {"error": view["error"]}
    elif page.tab == "tree":
        page.panel = {"rows": view["rows"]}
    elif page.tab == "accessibility":
        page.panel = _text_panel(view["text"], view["characters"])
    if page.tab == "page" and (shown := stored.shown_snapshot(page.of)) is not None:
        page.panel = {"frame": frame(request, shown, page.gold_ids), "cleaned": shown == stored.snapshot}
        recorded = stored.raw_snapshot
        page.panel["both"] = recorded is not None and recorded.can_be_shown and stored.snapshot is not None
    page.panel["snapshot"] = stored.snapshot


def frame(request: HttpRequest, snapshot: Snapshot, gold: list[str]) -> dict[str, Any]:
    """The addresses of the rendered page of a step that the user may see, with gold elements marked and without. For
    viewers without scripts the marks are part of the address."""
    marked = page_address(request, snapshot, [Mark(node_id, "gold") for node_id in gold])
    plain = marked if marked.scripted else page_address(request, snapshot)
    return marked.as_dict() | {"plain": plain.url}


def _view(step: Step, page: StepPage) -> dict[str, Any]:
    """What the sandboxed parser reads from the step's page for this tab; `error` where it cannot be shown."""
    nothing: dict[str, Any] = {"places": {}, "said": {}}
    if step.snapshot is None:
        return nothing | {"error": "This step has no page."}
    positives, negatives = step.candidate_records()
    shown = [record.node_id for record in (*positives, *negatives)]
    try:
        return page_questions.step_view(step.snapshot.html, page.tab, page.gold_ids, shown)
    except (PageTooHeavy, PagesBusy) as error:
        return nothing | {"error": f"This page could not be shown: {error}."}
    except PageError:
        return nothing | {"error": "The page cannot be parsed."}


def unflagged_candidates(step: Step) -> list[CandidateRecord]:
    """The candidates of an opening (`rules.py`) for those who may not see its gold: neither flags nor order tell it.
    The step comes with its page."""
    try:
        on_page = page_questions.outline(_content(step.snapshot))
    except PageError:
        on_page = []
    places = {node_id: place for place, node_id in reversed(list(enumerate(on_page)))}
    positives, negatives = step.candidate_records()
    return rules.unflagged([*positives, *negatives], places)


def _candidates(step: Step, view: dict[str, Any], gold: list[str], sight: Sight) -> tuple[list[CandidateRow], int]:
    """The first 50 candidates, gold ones first, and how many there are; where gold is hidden, without flags and in the
    order of the page."""
    places, said = view["places"], view["said"]
    positives, negatives = step.candidate_records()
    records = [*positives, *negatives]
    if sight < Sight.GOLD:
        records = rules.unflagged(records, places)
    rows = []
    for record in records[:MAX_CANDIDATES]:
        words = said.get(record.node_id)
        on_page = words is not None
        shown = words if on_page else _attributes_text(record.attributes)
        rows.append(CandidateRow(record.node_id, record.tag, shown, record.node_id in gold, on_page))
    return rows, len(records)


def _attributes_text(attributes: str) -> str:
    """A text for a candidate that was pruned off the page, from its recorded attributes; "" where they say nothing."""
    try:
        values = json.loads(attributes)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(values, dict):
        return ""
    shown = (str(values[name]) for name in ("aria_label", "placeholder", "value", "name", "id") if values.get(name))
    return next(shown, "")[: tree_rows.MAX_TEXT]


def _content(snapshot: Snapshot | None) -> str:
    return snapshot.html if snapshot is not None else ""


def _text_panel(text: str, characters: int) -> dict[str, Any]:
    return {"text": text[:MAX_TEXT], "characters": characters, "cut": characters > MAX_TEXT}
