"""Pages of corrections: the queue of a person's projects, and one step whose gold is corrected or verified."""

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
from annotations.models import Correction, CorrectionRefused, Operation
from annotations.paging import page_of

PLACE = "step__turn__conversation"
TURNS_SHOWN = 100


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
    context = {
        "correction": found,
        "conversation": found.step.turn.conversation,
        "gold": found.before or desk.gold(),
        "choices": desk.choices() if found.state in Correction.UNFINISHED else [],
        "operations": Operation.choices,
        "proposed_label": desk.labels.get(found.node_id, ""),
        "suggested_label": desk.labels.get(found.suggested.get("node_id", ""), ""),
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
