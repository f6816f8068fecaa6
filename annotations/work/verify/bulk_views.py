"""The page on which a verifier accepts several items at once, and sees what that lets through."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.models import Campaign, HeldBack, StaleWork, VerdictRefused
from annotations.text.amounts import whole
from annotations.work.verify import bulk

SHOWN = 50  # of what was accepted at once, and of what was held back


@never_cache
@require_http_methods(["GET", "POST"])
def bulk_accept(request: HttpRequest, pk: int) -> HttpResponse:
    """The items that could be accepted unseen, and the others with the reasons; POST accepts the `item`s, each
    "key:version" as shown."""
    rows = rules.visible(request.user, Campaign.objects.live().select_related("project"))
    campaign = get_object_or_404(rows, pk=pk)
    rules.require(request.user, "review", campaign.project)
    if request.method == "POST":
        _accept(request, campaign)
        return redirect("annotate-bulk", pk)
    found = bulk.checked(signed_in(request), campaign)
    done = list(campaign.bulk_accepts.select_related("user").prefetch_related(bulk.with_outcomes())[:SHOWN])
    held = HeldBack.objects.of(campaign).with_outcome().order_by("-pk")
    seen = rules.gold_filter(request.user, held, "item__session__split", "bulk__campaign__project")
    context = {
        "campaign": campaign,
        "green": [one for one in found if not one.concerns],
        "others": [one for one in found if one.concerns],
        "most": bulk.MOST,
        "is_cut": len(found) == bulk.MOST,
        "done": [(one, bulk.tally_of([one])) for one in done],
        "all": bulk.tally(campaign.bulk_accepts.all()),
        "held": seen[:SHOWN],
    }
    return render(request, "annotate/bulk.html", context)


def _accept(request: HttpRequest, campaign: Campaign) -> None:
    chosen = dict(pair for one in request.POST.getlist("item") if (pair := _named(one)) is not None)
    try:
        made = bulk.accept(signed_in(request), campaign, chosen)
    except (StaleWork, VerdictRefused) as error:
        messages.error(request, str(error))
        return
    held = made.held_back.count()
    messages.success(
        request,
        f"Accepted {made.size - held}. Held back for a second look: {held}, drawn at random; verify "
        f"{'it' if held == 1 else 'them'} as ever.",
    )


def _named(text: str) -> tuple[int, int] | None:
    """(item, version of what it judges) of a form's value "key:version"; None for anything else."""
    item, _, version = (whole(part) for part in text.partition(":"))
    return None if item is None or version is None else (item, version)
