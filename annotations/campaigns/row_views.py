"""The rows behind the numbers of a campaign's page: places of its items, and proposals of models."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotations.access import rules
from annotations.campaigns.forms import PlaceFilterForm, ProposalFilterForm
from annotations.campaigns.places import CampaignPlaces
from annotations.campaigns.views import visible_campaign
from annotations.models import Campaign
from annotations.paging import page_of


def places(request: HttpRequest, pk: int) -> HttpResponse:
    """Who has which place, and which are free."""
    campaign = _reviewed_campaign(request, pk)
    filters = PlaceFilterForm(request.GET, campaign)
    page = page_of(request, CampaignPlaces(campaign, filters.cleaned_data))
    rights, project = rules.rights_of(request), campaign.project_id
    rows = [(one, rights.sees_gold(project, one.session.split)) for one in page]
    context = {"campaign": campaign, "filters": filters, "page": page, "rows": rows}
    return render(request, "annotate/places.html", context)


def proposals(request: HttpRequest, pk: int) -> HttpResponse:
    """What models proposed, and what became of it."""
    campaign = _reviewed_campaign(request, pk)
    filters = ProposalFilterForm(request.GET, campaign)
    page = page_of(request, filters.rows().select_related("session", "assignment__user", "assignment__item"))
    rights, project = rules.rights_of(request), campaign.project_id
    rows = [(one, one.session is not None and rights.sees_gold(project, one.session.split)) for one in page]
    context = {"campaign": campaign, "filters": filters, "page": page, "rows": rows}
    return render(request, "annotate/proposals.html", context)


def _reviewed_campaign(request: HttpRequest, pk: int) -> Campaign:
    campaign = visible_campaign(request, pk)
    rules.require(request.user, "review", campaign.project)
    return campaign
