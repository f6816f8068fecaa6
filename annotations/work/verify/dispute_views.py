"""Pages of disputes between verifiers: those that wait for a decision, and one with its verdicts."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.queue import waiting
from annotations.desk.write.document import document
from annotations.models import Dispute, Verdict, VerdictRefused
from annotations.paging import page_of
from annotations.work.verify import verdicts
from annotations.work.verify.page import shown_clauses, shown_turns, told

SHOWN = 50  # items with two versions


@require_GET
def disputes(request: HttpRequest) -> HttpResponse:
    """The disputes that wait, first those that the user may decide, and those that are decided; items of which they
    may make one version of two."""
    versions = waiting.with_versions(signed_in(request))
    rows = waiting.disputes(signed_in(request))
    mine = rows.for_deciding(signed_in(request))
    context = {
        "mine": mine.with_people(),
        "others": rows.open().exclude(pk__in=mine.values("pk")).with_people(),
        "versions": versions[:SHOWN],
        "page": page_of(request, rows.closed().with_people()),
    }
    return render(request, "annotate/disputes.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
def dispute(request: HttpRequest, pk: int) -> HttpResponse:
    """The conversation in dispute, with the verdicts on it; POST decides: {outcome: accept or return, reason}."""
    rows = rules.visible(request.user, Dispute.objects.live().with_people())
    found = get_object_or_404(rows.select_related("assignment__item__session__website"), pk=pk)
    session = found.assignment.item.session
    rules.require(request.user, "review", session.campaign.project)
    rules.require_gold(request.user, session.campaign.project, session.split)
    if request.method == "POST":
        return _decide(request, found)
    shown = document(request, found.assignment)
    turns = shown_turns(shown, {})
    context = {
        "dispute": found,
        "session": session,
        "campaign": session.campaign,
        "turns": turns,
        "clauses": shown_clauses(shown["clauses"], turns),
        "verdicts": [told(one, session.campaign.rubric, turns) for one in found.verdicts],
        "why_not": found.why_not_decided_by(signed_in(request)),
        "others": [one for one in found.assignment.item.versions() if one.pk != found.assignment_id],
    }
    return render(request, "annotate/dispute.html", context)


def _decide(request: HttpRequest, found: Dispute) -> HttpResponse:
    outcome, reason = request.POST.get("outcome", ""), request.POST.get("reason", "").replace("\0", "")
    if outcome not in Verdict.Outcome.values:
        messages.error(request, "Say which verdict stands: accept or return.")
        return redirect("annotate-dispute", found.pk)
    try:
        verdicts.decide(found, signed_in(request), outcome, reason)
    except VerdictRefused as error:
        messages.error(request, str(error))
        return redirect("annotate-dispute", found.pk)
    messages.success(request, f"Decided: {found.assignment.item.session} is {Verdict.Outcome(outcome).label}.")
    following = waiting.disputes(signed_in(request)).for_deciding(signed_in(request)).first()
    return redirect("annotate-dispute", following.pk) if following else redirect("annotate-disputes")
