"""The table of a campaign's work: every item, who has it and what became of it; how good and how fast the work is."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.assigning import REFUSED, Handover
from annotations.campaigns.forms import WorkFilterForm
from annotations.campaigns.progress import progress_of
from annotations.campaigns.quality import WEIGHTS, CampaignWork, ItemFilter, weeks_left
from annotations.campaigns.views import visible_campaign
from annotations.models import Campaign, Session, Stage
from annotations.models.work.queue import ItemQuerySet
from annotations.paging import page_of
from annotations.text.amounts import amount, whole


def work(request: HttpRequest, pk: int) -> HttpResponse:
    """GET lists the items; POST gives the ticked ones to a person, or changes the priority of their sessions."""
    campaign = visible_campaign(request, pk)
    rules.require(request.user, "review", campaign.project)
    found = CampaignWork(campaign, signed_in(request))
    if request.method == "POST":
        rules.require(request.user, "manage", campaign.project)
        _change(request, campaign, found.items())
        return redirect(request.get_full_path())
    people, codes = found.people(), found.codes()
    filters = WorkFilterForm(request.GET, found.names(), [one.code for one in codes])
    weeks, progress = found.weeks(), progress_of([campaign])[campaign.pk]
    left = {stage: tally.left for stage, tally in progress.stages.items()}
    context = {
        "campaign": campaign,
        "filters": filters,
        "page": page_of(request, ItemFilter(found, filters.cleaned_data).rows().for_listing()),
        "people": people,
        "codes": codes,
        "weeks": [(week.start, list(week.stages.items())) for week in weeks],
        "left": [(label, sentence) for label, sentence in weeks_left(weeks, timezone.now().date(), left).items()],
        "stages": Stage.choices,
        "may_manage": rules.can(request.user, "manage", campaign.project),
        "able": sorted({one for stage in Stage.values for one in campaign.able_people(stage)}, key=User.get_username),
    }
    return render(request, "annotate/work.html", context)


def _change(request: HttpRequest, campaign: Campaign, items: ItemQuerySet) -> None:
    keys = [key for key in map(whole, request.POST.getlist("item")) if key is not None]
    chosen = items.filter(pk__in=keys[:1_000])
    count, weight = chosen.count(), WEIGHTS.get(request.POST.get("priority", ""))
    if not count:
        messages.error(request, "Tick the items that are meant.")
    elif weight is not None:
        Session.objects.filter(items__in=chosen).weigh(weight)
        messages.success(request, f"{amount(count, 'item')} and the others of their sessions come in that order now.")
    else:
        _give(request, campaign, chosen)


def _give(request: HttpRequest, campaign: Campaign, chosen: ItemQuerySet) -> None:
    people = User.objects.filter(memberships__project=campaign.project)  # of accounts elsewhere nothing is told
    person = people.filter(pk=whole(request.POST.get("person", "")) or 0).first()
    if person is None:
        messages.error(request, "Choose who gets them.")
        return
    done = Handover(campaign, person).of(chosen)
    if given := done.pop("", 0):
        messages.success(request, f"{person.get_username()} has {amount(given, 'item')} more.")
    for why, count in sorted(done.items()):
        messages.error(request, f"{amount(count, 'item')} stayed: they {REFUSED[why]}.")
