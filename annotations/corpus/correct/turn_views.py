"""Pages of corrections of turns: asking for one, and one whose wording or cut is corrected or verified."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.corpus.correct.correcting import DOES, InHand, carry_out, require_may_ask, require_may_flag
from annotations.corpus.correct.rewording import MAX_INSTRUCTION, ShownWording, WordingDesk
from annotations.models import Conversation, CorrectionRefused, Step, TurnCorrection, Unsure
from annotations.text.amounts import whole

INSIDE = "turn__conversation"


def turn_corrections(request: HttpRequest) -> QuerySet[TurnCorrection]:
    """The corrections of turns that the user may see; reasons may quote gold, so those of hidden test splits are left
    out."""
    related = ("first_step", f"{INSIDE}__dataset__project")
    rows = rules.visible(request.user, TurnCorrection.objects.with_people().select_related(*related))
    return rules.gold_filter(request.user, rows, f"{INSIDE}__split", f"{INSIDE}__dataset__project")


@require_http_methods(["GET", "POST"])
def turn_correction(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of one correction of a turn; POST proposes what is right, or decides: {do: propose, accept, refuse or
    dismiss}."""
    found = get_object_or_404(turn_corrections(request), pk=pk)
    project = found.conversation.dataset.project
    wrong: dict[str, str] | None = {}
    if request.method == "POST":
        wrong = carried_out(request, WordingDesk(found), PROPOSAL, SAID)
        if wrong is None:
            return redirect("turn-correction", found.pk)
        found = get_object_or_404(turn_corrections(request), pk=pk)
    desk, is_under_way = WordingDesk(found), found.state in TurnCorrection.UNFINISHED
    context = {
        "sure": (wrong or {}).get("sure", ""),
        "shown": ShownWording(desk),
        "correction": found,
        "conversation": found.conversation,
        "steps": desk.steps() if is_under_way else [],
        "asked": desk.start() | written(request, PROPOSAL),
        "longest": MAX_INSTRUCTION,
        "may_correct": is_under_way and rules.can(request.user, "annotate", project),
        "may_decide": is_under_way and rules.can(request.user, "review", project),
        "next_people": found.next_people(project),
        "may_dismiss": not found.is_kept_from(signed_in(request)),
        "is_own": found.corrected_by_id == signed_in(request).pk,
        "release": found.released_in(),
        "step": found.turn.steps.order_by("index").first(),
    }
    return render(request, "annotations/turn_correction.html", context)


def asked_of_step(request: HttpRequest, pk: int) -> tuple[Step, str]:
    """The step that the request says is wrong, and the reason. 404 where the user may not see the step,
    PermissionDenied where they may not ask for corrections."""
    rows = Step.objects.select_related("turn__conversation__dataset__project")
    step = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    require_may_ask(request.user, step)
    return step, " ".join(request.POST.get("reason", "").replace("\0", "").split())


def ask_again(request: HttpRequest, step: Step, reason: str, why_not: CorrectionRefused, place: str) -> HttpResponse:
    """A page with what was written, so that it can be said otherwise. `place`: the route that it is sent to."""
    context = {"step": step, "reason": reason, "why_not": why_not, "place": place}
    return render(request, "annotations/ask_again.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@require_POST
def ask_turn_correction(request: HttpRequest, pk: int) -> HttpResponse:
    """Say of the turn of a step that its wording or its cut is wrong."""
    step, reason = asked_of_step(request, pk)
    if not reason:
        messages.error(request, "Say what is wrong with what the user says, or with where it begins.")
        return redirect("step", pk)
    try:
        return redirect("turn-correction", TurnCorrection.objects.ask(step.turn, signed_in(request), reason).pk)
    except CorrectionRefused as error:
        return ask_again(request, step, reason, error, "turn-correction-ask")


@require_POST
def flag_conversation(request: HttpRequest, pk: int) -> HttpResponse:
    """Say of a turn of a conversation, {turn} from 1, that its wording or its cut is wrong."""
    rows = rules.visible(request.user, Conversation.objects.select_related("dataset__project"))
    inside, turn = get_object_or_404(rows, pk=pk), whole(request.POST.get("turn", ""))
    rows_of_turn = Step.objects.filter(turn__conversation=inside, turn__index=(turn or 0) - 1).order_by("index")
    first = rows_of_turn.select_related("turn__conversation__dataset__project").first()
    require_may_flag(request.user, inside)
    if first is None:
        messages.error(request, f"{inside.source_id} has {inside.turns.count()} turns: choose one that has steps.")
        return redirect("conversation", pk)
    return ask_turn_correction(request, first.pk)


def carried_out(
    request: HttpRequest, desk: InHand, fields: Sequence[str], said: Mapping[str, str]
) -> dict[str, str] | None:
    """Do what the form asks, {do: propose, accept, refuse or dismiss}, and show a message that says so, or why not.
    `fields`: the form's fields of a proposal; `said`: the message after each action. None once it is done; else what is
    wrong, by field, where one of them is. {"sure": wording}: it is asked about this wording, and done once a form sends
    it as `sure`."""
    what, sent = request.POST.get("do", ""), request.POST
    if what not in DOES:
        messages.error(request, "Say what is to be done with it.")
        return {}
    rules.require(request.user, DOES[what], desk.correction.conversation.dataset.project)
    names = fields if what == "propose" else ("note",)
    told: dict[str, Any] = {name: sent.get(name, "") for name in names}
    about = str(told.get("instruction") or getattr(desk.correction, "instruction", ""))
    if about and what in ("propose", "accept") and sent.get("sure") == about:
        told["sure"] = True
    try:
        carry_out(desk, what, signed_in(request), told)
    except Unsure as error:
        press = {"propose": "Propose", "accept": "Accept"}[what]
        messages.error(request, f"{' '.join(error.problems)} {press} it once more to do so all the same.")
        return {"sure": about}
    except CorrectionRefused as error:
        messages.error(request, str(error))
        return {error.field: str(error)} if error.field else {}
    messages.success(request, said[what])
    return None


def written(request: HttpRequest, fields: Sequence[str]) -> dict[str, str]:
    """What a form of these fields brought."""
    return {name: request.POST[name] for name in fields if name in request.POST}


PROPOSAL = ("instruction", "first_step")
SAID = {
    "propose": "Proposed: somebody else verifies it now.",
    "accept": "The turn is so now; the next release has it too.",
    "refuse": "Sent back.",
    "dismiss": "It stands as it is.",
}
