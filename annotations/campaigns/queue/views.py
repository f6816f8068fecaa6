"""The page of one's queue: one's own work over all campaigns, the next item, and why there is none."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.queue import claiming, waiting
from annotations.campaigns.queue.reasons import why_nothing
from annotations.models import Assignment, Campaign, NotFree
from annotations.text.amounts import whole

SHOWN = 200
DONE_SHOWN = 20


def queue(request: HttpRequest) -> HttpResponse:
    return _page(request, [])


@require_POST
def next_item(request: HttpRequest) -> HttpResponse:
    """Claim the next item, of one campaign and stage or of any, and open it; without one, say why."""
    reasons = []
    for campaign, stage in _wanted(request):
        if (found := claiming.next_item(signed_in(request), campaign, stage)) is not None:
            if found.review == Assignment.Reviewed.RETURNED:
                messages.info(request, "This was returned to you: it comes before anything new.")
            return redirect("annotate-item", found.pk)
        reasons.append((campaign, stage, why_nothing(signed_in(request), campaign, stage)))
    if not reasons:
        messages.info(request, "There is no campaign that you can work in; ask an admin of your project.")
    return _page(request, reasons)


@require_POST
def give_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Give back one of the user's own items, so that somebody else can have it."""
    mine = rules.visible(signed_in(request), Assignment.objects.filter(user=signed_in(request)))
    found = get_object_or_404(mine.select_related("item__session"), pk=pk)
    try:
        found.give_back()
        messages.success(request, f"{found.item.session} is given back: somebody else can have it.")
    except NotFree as error:
        messages.error(request, str(error))
    return redirect("annotate-queue")


def _wanted(request: HttpRequest) -> list[tuple[Campaign, str]]:
    """Campaigns and stages to look in: own work first wherever it is, then what the role allows."""
    user, wanted = signed_in(request), request.POST.get("stage", "")
    campaigns = waiting.campaigns(user)
    if (named := whole(request.POST.get("campaign", ""))) is not None:
        campaigns = [campaign for campaign in campaigns if campaign.pk == named]
    by_key = {campaign.pk: campaign for campaign in campaigns}
    own = waiting.mine(user).filter(item__session__campaign__in=by_key)
    if wanted:
        own = own.filter(item__stage=wanted)
    first = [(by_key[one.item.session.campaign_id], one.item.stage) for one in own[:1]]
    rest = [pair for pair in waiting.places(user, campaigns) if wanted in ("", pair[1])]
    return first + [pair for pair in rest if pair not in first]


def _page(request: HttpRequest, reasons: list[tuple[Campaign, str, str]]) -> HttpResponse:
    own = rules.visible(signed_in(request), Assignment.objects.filter(user=signed_in(request)))
    done = own.filter(state=Assignment.State.SUBMITTED, item__session__deleted_at=None)
    may = {ability: rules.projects(request.user, ability).exists() for ability in ("annotate", "review", "manage")}
    context = {
        "mine": waiting.mine(signed_in(request)).with_step_count()[:SHOWN],
        "done": done.select_related("item__session__campaign").order_by("-submitted_at")[:DONE_SHOWN],
        "to_do": [(one, key) for key, one in enumerate(waiting.waiting(signed_in(request)), 1)],
        "reasons": reasons,
        "disputes": waiting.disputes(signed_in(request)).for_deciding(signed_in(request)).count(),
        "versions": waiting.with_versions(signed_in(request)).count(),
        "may": may,
    }
    return render(request, "annotate/queue.html", context)
