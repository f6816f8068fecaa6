"""Agreement in a campaign, hidden gold items, and what their annotators learn from them."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotations import agreement as measures
from annotations.access import rules
from annotations.campaigns.queue.claiming import next_item
from annotations.models import Assignment, Campaign, Session, Stage
from annotations.paging import page_of
from annotations.text.segmentation import NEAR
from annotations.work.verify import gold
from annotations.work.verify.agreement_tables import CampaignAgreement
from annotations.work.verify.compared_page import ComparedForm


@never_cache
def agreement(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of agreement: how far people agree; for admins also how each did on gold items."""
    campaign = _campaign(request, pk, "review")
    manages = rules.can(request.user, "manage", campaign.project)
    context = {
        "campaign": campaign,
        "report": CampaignAgreement(campaign).report(),
        "near": NEAR,
        "level": round(100 * measures.LEVEL),
        "manages": manages,
        "rows_at": reverse("annotate-comparisons", args=[campaign.pk]),
        "gold_count": campaign.sessions.live().filter(is_gold=True).count(),
    }
    if manages:
        hidden = gold.HiddenGold(campaign)
        context |= {"accuracy": hidden.accuracy(), "candidates": hidden.candidates()}
    return render(request, "annotate/agreement.html", context)


@never_cache
def comparisons(request: HttpRequest, pk: int) -> HttpResponse:
    """The rows behind the numbers of agreement: who said what of the same, what is least alike first."""
    campaign = _campaign(request, pk, "review")
    filters = ComparedForm(request.GET, campaign, manages=rules.can(request.user, "manage", campaign.project))
    found, rights = filters.rows(), rules.rights_of(request)
    page = page_of(request, found)
    context = {
        "campaign": campaign,
        "filters": filters,
        "page": page,
        "sessions": len({row.session for row in found}),
        "rows": [(row, rights.sees_gold(campaign.project_id, row.session.split)) for row in page],
    }
    return render(request, "annotate/comparisons.html", context)


@require_POST
def make_gold(request: HttpRequest, pk: int) -> HttpResponse:
    """Turn a session into a hidden gold item; its solution is an annotation that passed elsewhere."""
    rows = rules.visible(request.user, Session.objects.live().select_related("campaign__project"))
    session = get_object_or_404(rows, pk=pk)
    rules.require(request.user, "manage", session.campaign.project)
    solved = dict(gold.HiddenGold(session.campaign).candidates()).get(session)
    if solved is None:
        messages.error(request, f"{session} cannot be a gold item: it was begun, or nobody has solved it elsewhere.")
    else:
        session.use_as_gold(solved)
        messages.success(request, f"{session} is a gold item now; annotators are not told.")
    return redirect("annotate-agreement", session.campaign_id)


@never_cache
def feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """What differs from the known solution: for the annotator, once they have submitted, and for admins."""
    rows = Assignment.objects.filter(item__session__is_gold=True, state=Assignment.State.SUBMITTED)
    rows = rows.exclude(item__stage=Stage.VERIFY).exclude(item__session__gold=None)
    rows = rows.select_related("user", "item__session__campaign__project")
    found = get_object_or_404(rules.visible(request.user, rows), pk=pk)
    campaign = found.item.session.campaign
    if found.user_id != request.user.pk:
        if not rules.can(request.user, "manage", campaign.project):
            raise Http404
    else:
        rules.require_gold(request.user, campaign.project, found.item.session.split)
    following = next_item(request.user, campaign, found.item.stage) if found.user == request.user else None
    context = {"assignment": found, "campaign": campaign, "compared": gold.compare(found), "following": following}
    return render(request, "annotate/feedback.html", context)


def _campaign(request: HttpRequest, pk: int, ability: str) -> Campaign:
    rows = rules.visible(request.user, Campaign.objects.live().select_related("project"))
    campaign = get_object_or_404(rows, pk=pk)
    rules.require(request.user, ability, campaign.project)
    return campaign
