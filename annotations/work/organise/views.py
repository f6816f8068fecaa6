"""Organising sessions: the page, its actions as JSON, proposals, and opening the work."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.access.json_input import BadJson, read_object
from annotations.access.people import signed_in
from annotations.campaigns.propose import proposing
from annotations.campaigns.views import managed_campaign
from annotations.models import Campaign
from annotations.text.amounts import amount
from annotations.work.organise.layouts import ChangeRefused
from annotations.work.organise.peeks import BadPeek, Peeks
from annotations.work.organise.rows import OrganiseRows
from annotations.work.organise.sessions import Organising, suggest


def organise(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = managed_campaign(request, pk)
    context = {
        "campaign": campaign,
        "state": OrganiseRows(campaign).state(),
        "batches": campaign.sessions.live().batches(),
        "unopened": campaign.sessions.unopened().count(),
    }
    return render(request, "annotate/organise.html", context)


@require_POST
def change(request: HttpRequest, pk: int) -> JsonResponse:
    """Do one action of `Organising.change`; answers as `OrganiseRows.answer`, or 409 {"error"}."""
    campaign = managed_campaign(request, pk)
    try:
        wanted = read_object(request)
    except BadJson as error:
        return JsonResponse({"error": str(error)}, status=400)
    try:
        made = Organising(campaign, signed_in(request)).change(wanted)
    except ChangeRefused as error:
        return JsonResponse({"error": str(error)}, status=409)
    except (ValueError, KeyError, TypeError):
        return JsonResponse({"error": "The request names no action that can be done."}, status=400)
    return JsonResponse(OrganiseRows(campaign).answer(made))


@require_http_methods(["GET", "POST"])
def propose(request: HttpRequest, pk: int) -> JsonResponse:
    """The proposals; a POST makes new ones of the leftovers, by their words at once and, where the campaign has the
    embedded model propose, by its vectors in a job: {"said", "proposals", "job": address of its state or null}."""
    campaign = managed_campaign(request, pk)
    job = None
    if request.method == "POST":
        suggest(campaign)
        if campaign.proposer == Campaign.Proposer.EMBEDDED:
            job = proposing.start_sessions_job(campaign, signed_in(request))
    rows = OrganiseRows(campaign).proposals()
    said = f"{amount(len(rows), 'session')} proposed." if rows else "No leftovers go together."
    state_url = reverse("job-state", args=[job.pk]) if job else None
    return JsonResponse({"said": said, "proposals": rows, "job": state_url})


@never_cache
@require_GET
def peek(request: HttpRequest, pk: int) -> JsonResponse:
    """What recorded pages of some tasks look like, `{"pages": [{task, page, pages, did, still}, …]}`; 400 for
    an address that names none."""
    campaign = managed_campaign(request, pk)
    try:
        return JsonResponse({"pages": Peeks(request, campaign).rows()})
    except BadPeek as error:
        return JsonResponse({"error": str(error)}, status=400)


@require_POST
def open_work(request: HttpRequest, pk: int) -> HttpResponse:
    """Open the decomposition of every session that is not open yet, as a batch of this name."""
    campaign = managed_campaign(request, pk)
    batch = request.POST.get("batch", "").strip()[:100]
    if opened := Organising(campaign, signed_in(request)).open_work(batch):
        named = f" as batch “{batch}”" if batch else ""
        messages.success(request, f"Opened {amount(len(opened), 'session')}{named}.")
    else:
        messages.info(request, "Every session with tasks is open already.")
    return redirect("annotate-campaign", pk)
