"""The document of an annotation for the browser: reading it, saving edits, the lease, handing in. JSON.

A browser whose session has ended gets 401 instead of the sign-in page, keeps its journal and sends it again later.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_GET, require_POST

from annotations.access import rules
from annotations.access.json_input import read_object
from annotations.access.people import signed_in
from annotations.campaigns.propose import proposing
from annotations.campaigns.propose.asked import AwaitedProposal, check_answered
from annotations.campaigns.queue.claiming import next_item
from annotations.desk import moving_on
from annotations.desk.write import opening
from annotations.desk.write.document import answer, document, edit_row, frame, proposal_row
from annotations.desk.write.page_titles import page_titles
from annotations.desk.write.refusals import REFUSALS, as_json
from annotations.desk.write.step_trees import page_tree_response
from annotations.edits import saving
from annotations.edits.edit_ops import BadEdit
from annotations.models import Assignment, Campaign, Job, Stage, Step
from annotations.models.choices import MAX_REASON

MAX_HISTORY = 500  # edits shown at once, newest first


def for_the_workbench(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer errors of the view as JSON: {"error", "code"}. 401 without a session; the others as `refusals.py` lists
    them."""

    @login_not_required
    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return JsonResponse({"code": "signed_out", "error": "You are signed out; sign in to go on."}, status=401)
        try:
            response = view(request, *args, **kwargs)
        except REFUSALS as error:
            response = as_json(error)
        if not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response

    return answered


@for_the_workbench
@require_GET
def show(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(document(request, opening.to_read(request.user, pk)))


@for_the_workbench
@require_POST
def save(request: HttpRequest, pk: int) -> JsonResponse:
    body = read_object(request)
    with transaction.atomic():
        assignment = opening.locked(request.user, pk)
        saved = saving.save(assignment, signed_in(request), body.get("token"), _base(body), body.get("edits"))
    return JsonResponse(answer(saved))


@for_the_workbench
@require_POST
def undo(request: HttpRequest, pk: int) -> JsonResponse:
    return _stepped(request, pk, saving.undo)


@for_the_workbench
@require_POST
def redo(request: HttpRequest, pk: int) -> JsonResponse:
    return _stepped(request, pk, saving.redo)


@for_the_workbench
@require_POST
def beat(request: HttpRequest, pk: int) -> JsonResponse:
    """Make the lease longer; whether it is still held with this token. Refused, as saving is, for who may not write any
    more: the work then becomes free."""
    token = _uuid(read_object(request), "token")
    mine = rules.visible(signed_in(request), Assignment.objects.filter(pk=pk, user=signed_in(request)))
    if found := mine.select_related(*opening.RELATED).first():
        opening.check_gold(request.user, found)
        rules.require(request.user, Stage(found.item.stage).ability, found.item.session.campaign.project)
    held = None if token is None else mine.beat(token)
    told = (held or opening.to_read(request.user, pk)).lease_told_to(request.user)
    return JsonResponse({"held": held is not None} | {key: value for key, value in told.items() if key != "token"})


@for_the_workbench
@require_POST
def take(request: HttpRequest, pk: int) -> JsonResponse:
    """Take the lease of an assignment; somebody else's only once it has run out."""
    assignment = opening.to_take(request.user, pk)
    return JsonResponse(assignment.take(request.user).lease_told_to(request.user))


@for_the_workbench
@require_POST
def submit(request: HttpRequest, pk: int) -> JsonResponse:
    """Hand in what the browser has seen, and answer what comes next."""
    body = read_object(request)
    with transaction.atomic():
        assignment = opening.locked(request.user, pk)
        assignment.check_unchanged(signed_in(request), body.get("token"), _base(body))
        moving_on.submit(assignment)
    if assignment.item.session.is_gold and assignment.item.session.gold:
        return JsonResponse({"next": reverse("annotate-feedback", args=[assignment.pk])})
    following = next_item(signed_in(request), assignment.item.session.campaign, assignment.item.stage)
    return JsonResponse({"next": reverse("annotate-item", args=[following.pk]) if following else None})


@for_the_workbench
@require_POST
def give_back(request: HttpRequest, pk: int) -> JsonResponse:
    with transaction.atomic():
        assignment = opening.locked(request.user, pk)
        assignment.check_lease(request.user, read_object(request).get("token"))
        assignment.give_back()
    return JsonResponse({"next": None})


@for_the_workbench
@require_POST
def send_back(request: HttpRequest, pk: int) -> JsonResponse:
    """Send the cuts of a rewrite back to whoever made them, with a reason."""
    body = read_object(request)
    with transaction.atomic():
        assignment = opening.locked(request.user, pk)
        assignment.check_lease(request.user, body.get("token"))
        moving_on.Mending(assignment).ask(signed_in(request), _reason(body))
    return JsonResponse({"next": None})


@for_the_workbench
@require_POST
def propose(request: HttpRequest, pk: int) -> JsonResponse:
    """Propose cuts or rewrites: answers the proposal, or the job that asks the campaign's endpoint for one, unless it
    says `by`: "rules". Sent again with that `job`, it answers what became of it, and ends it where it says `stop`.
    People accept a proposal by edits that name it."""
    body, assignment = read_object(request), opening.own(request.user, pk)
    if body.get("job") is not None:
        return JsonResponse(_asked(body["job"], assignment, stop=body.get("stop") is True))
    kind = str(body.get("kind"))
    campaign = assignment.item.session.campaign
    try:
        if campaign.proposer == Campaign.Proposer.ENDPOINT and body.get("by") != "rules":
            check_answered(campaign.connection)
            job = proposing.Proposing(assignment).start_job(kind, signed_in(request))
            return JsonResponse({"job": job.pk}, status=202)
        return JsonResponse({"proposal": proposal_row(proposing.Proposing(assignment).propose(kind))})
    except ValidationError as error:
        raise proposing.NoProposals(" ".join(error.messages)) from error


@for_the_workbench
@require_GET
def history(request: HttpRequest, pk: int) -> JsonResponse:
    """The edits of an annotation, newest first: who changed what, and when."""
    rows = opening.to_read(request.user, pk).edits.select_related("user").order_by("-version")[:MAX_HISTORY]
    return JsonResponse({"edits": [edit_row(edit) for edit in rows]})


@for_the_workbench
@require_GET
def step_frame(request: HttpRequest, pk: int, step_pk: int) -> JsonResponse:
    """New addresses of a step's rendered page, as those that the document gave run out."""
    step: Step = get_object_or_404(opening.to_read(request.user, pk).item.session.steps().light(), pk=step_pk)
    return JsonResponse({"frame": frame(request, step)})


@for_the_workbench
@require_GET
def step_tree(request: HttpRequest, pk: int, step_pk: int) -> HttpResponse:
    """The whole tree of a step's page, `{"nodes": [[depth, node id, tag, label, gold, candidate], …]}`."""
    rows = opening.to_read(request.user, pk).item.session.steps().select_related("snapshot__dictionary")
    step: Step = get_object_or_404(rows.prefetch_related("targets"), pk=step_pk)
    return page_tree_response(request, step)


@for_the_workbench
@require_GET
def titles(request: HttpRequest, pk: int) -> JsonResponse:
    """The titles of the session's pages. They are asked for after the document, as finding them opens the pages."""
    return JsonResponse({"titles": page_titles(opening.to_read(request.user, pk).item.session)})


def _asked(key: Any, assignment: Assignment, *, stop: bool) -> dict[str, Any]:
    """What became of a job that asks a model: the proposal, why there is none, or what it waits for."""
    if isinstance(key, bool) or not isinstance(key, int) or not 0 <= key < 2**63:
        raise BadEdit("A job is named by its number.")
    job = get_object_or_404(Job.objects.filter(kind=Job.Kind.PROPOSE, params__assignment=assignment.pk), pk=key)
    if stop:
        job.cancel()
        job.refresh_from_db()
    asked = AwaitedProposal(job, assignment)
    made = asked.made()
    return {"proposal": proposal_row(made) if made else None} | asked.words()


def _stepped(request: HttpRequest, pk: int, step: Callable) -> JsonResponse:
    body = read_object(request)
    op_id = _uuid(body, "op_id")
    with transaction.atomic():
        saved = step(opening.locked(request.user, pk), request.user, body.get("token"), _base(body), op_id)
    return JsonResponse(answer(saved))


def _reason(body: dict[str, Any]) -> str:
    reason = body.get("reason")
    if (
        not isinstance(reason, str)
        or len(reason) > MAX_REASON
        or "\0" in reason
        or reason.encode("utf-8", "replace").decode() != reason
    ):
        raise BadEdit(f"A reason is a text of at most {MAX_REASON:,} characters, each of them whole.")
    return reason


def _base(body: dict[str, Any]) -> int:
    base = body.get("base")
    if isinstance(base, bool) or not isinstance(base, int) or not 0 <= base < 2**31:
        raise BadEdit("A request has a base: the version that the browser has seen.")
    return base


def _uuid(body: dict[str, Any], name: str) -> UUID | None:
    try:
        return UUID(str(body[name])) if body.get(name) is not None else None
    except ValueError as error:
        raise BadEdit(f"The {name} is a UUID.") from error
