"""Pages of corrections: the queue of a person's projects, and one step whose gold is corrected or verified."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.corpus.correct import correcting
from annotations.corpus.correct.turn_views import SAID as WORDING_SAID
from annotations.corpus.correct.turn_views import ask_again, asked_of_step, carried_out, turn_corrections, written
from annotations.dom.marks import Mark
from annotations.models import Correction, CorrectionRefused, Operation
from annotations.pages.snapshot_host import page_address
from annotations.paging import page_of

PLACE = "step__turn__conversation"
TURNS_SHOWN = 100
LISTED = 300  # elements of a page that are listed where no script runs, which finds all of them by their words


def _visible(request: HttpRequest) -> QuerySet[Correction]:
    rows = rules.visible(request.user, Correction.objects.select_related(f"{PLACE}__dataset__project"))
    rows = rules.gold_filter(request.user, rows, f"{PLACE}__split", f"{PLACE}__dataset__project")
    return rows.with_people()


@require_GET
def corrections(request: HttpRequest) -> HttpResponse:
    """The corrections of the user's projects, newest first: those that wait, and those that were decided."""
    rows, state = _visible(request), request.GET.get("state", "")
    shown = rows.filter(state=state) if state in Correction.State.values else rows
    counts = [(value, label, rows.filter(state=value).count()) for value, label in Correction.State.choices]
    turns = turn_corrections(request).filter(**({"state": state} if state in Correction.State.values else {}))
    context = {"page": page_of(request, shown), "counts": counts, "state": state, "total": rows.count()}
    context |= {"turns": turns[:TURNS_SHOWN]}
    return render(request, "annotations/corrections.html", context)


@require_http_methods(["GET", "POST"])
def correction(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of one correction; POST proposes what is right, or decides: {do: propose, accept, refuse or dismiss}."""
    found = get_object_or_404(_visible(request), pk=pk)
    project = found.step.turn.conversation.dataset.project
    wrong: dict[str, str] | None = {}
    if request.method == "POST":
        wrong = carried_out(request, correcting.CorrectionDesk(found), PROPOSAL, SAID)
        if wrong is None:
            return redirect("correction", pk)
        found = get_object_or_404(_visible(request), pk=pk)
    desk = correcting.GoldDesk(found.step)
    choices = desk.choices() if found.state in Correction.UNFINISHED else []
    context = {
        "correction": found,
        "conversation": found.step.turn.conversation,
        "gold": found.before or desk.gold(),
        "choices": choices[:LISTED],
        "beside": _beside(request, correcting.CorrectionDesk(found), desk, choices),
        "operations": Operation.choices,
        "proposed_label": desk.names.get(found.node_id, ""),
        "suggested_label": desk.names.get(found.suggested.get("node_id", ""), ""),
        "asked": correcting.CorrectionDesk(found).start() | written(request, PROPOSAL),
        "wrong": wrong,
        "may_correct": found.state in Correction.UNFINISHED and rules.can(request.user, "annotate", project),
        "may_decide": found.state in Correction.UNFINISHED and rules.can(request.user, "review", project),
        "next_people": found.next_people(project),
        "may_dismiss": not found.is_kept_from(signed_in(request)),
        "is_own": found.corrected_by_id == signed_in(request).pk,
        "release": found.released_in(),
    }
    return render(request, "annotations/correction.html", context)


def _beside(
    request: HttpRequest,
    in_hand: correcting.CorrectionDesk,
    desk: correcting.GoldDesk,
    choices: Sequence[correcting.GoldChoice],
) -> dict[str, Any] | None:
    """The recorded page with its gold and what is proposed, and what its script needs to let an element be chosen on
    it; None where the step has no page. Whoever sees the correction sees the step's gold (`_visible`)."""
    found, shown = in_hand.correction, desk.step.shown_snapshot()
    if shown is None:
        return None
    marks = [Mark(node, "gold") for node in desk.step.gold_ids()]
    if found.node_id and found.state in Correction.UNFINISHED:
        marks.append(Mark(found.node_id, "predicted", "proposed"))
    replaced = found.before.get("node_ids", []) if found.state == Correction.State.DONE else []
    marks += [Mark(node, "changed", "gold before") for node in replaced if node not in desk.step.gold_ids()]
    return {
        "view": page_address(request, shown, marks).as_dict(),
        "elements": [[one.node_id, one.tag, one.label, one.is_gold] for one in choices],
        **desk.meaning_of_clicks(choices)._asdict(),
    }


@require_POST
def ask_correction(request: HttpRequest, pk: int) -> HttpResponse:
    """Say of a step that its gold is wrong."""
    step, reason = asked_of_step(request, pk)
    if not reason:
        messages.error(request, "Say what is wrong with the recorded action.")
        return redirect("step", pk)
    try:
        return redirect("correction", Correction.objects.ask(step, signed_in(request), reason).pk)
    except CorrectionRefused as error:
        return ask_again(request, step, reason, error, "correction-ask")


PROPOSAL = ("operation", "value", "node_id")
SAID = WORDING_SAID | {
    "accept": "The step has this gold now; the next release has it too, and scores follow.",
    "dismiss": "The recorded gold stands.",
}
