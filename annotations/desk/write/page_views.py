"""The item page: where one annotation is decomposed or rewritten. What it shows comes from the document API."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotations.access.people import signed_in
from annotations.desk.put_right import ReturnedWork
from annotations.desk.write import opening
from annotations.edits.mentions import PHENOMENA
from annotations.models import Assignment, Campaign, Stage
from annotations.text import guidelines

LISTED = 60  # of the own queue


@never_cache
def item(request: HttpRequest, pk: int) -> HttpResponse:
    """The user's own annotation to work on; that of others to read, where it may be seen."""
    found = opening.to_read(request.user, pk)
    session = found.item.session
    if found.item.stage == Stage.VERIFY:
        return redirect("annotate-verify", pk)
    guideline = found.guideline or session.campaign.guidelines.first()
    context = {
        "assignment": found,
        "session": session,
        "campaign": session.campaign,
        "guideline": guideline,
        "blocks": guidelines.blocks(guideline.text) if guideline else [],
        "queue": _queue(request, found),
        "returns": found.returns(),
        "answerable": ReturnedWork(found).open_defects(),
        "others": found.others_who_wrote(),
        "data": _data(request, found),
    }
    return render(request, "annotate/item.html", context)


def _data(request: HttpRequest, assignment: Assignment) -> dict[str, Any]:
    """The data that the page's script needs before it reads the document."""
    return {
        "id": assignment.pk,
        "stage": assignment.item.stage,
        "user": request.user.pk,
        "username": request.user.get_username(),
        "url": reverse("annotate-item", args=[assignment.pk]),
        "queue": reverse("annotate-queue"),
        "login": f"{reverse('login')}?next={request.path}",
        "phenomena": PHENOMENA,
        "asks_model": assignment.item.session.campaign.proposer == Campaign.Proposer.ENDPOINT,
    }


def _queue(request: HttpRequest, assignment: Assignment) -> list[Assignment]:
    """The user's items of this stage and campaign: unfinished ones first, then those that are over, newest first."""
    mine = Assignment.objects.active().filter(
        user=signed_in(request),
        item__stage=assignment.item.stage,
        item__session__campaign=assignment.item.session.campaign,
    )
    rows = mine.select_related("item__session").order_by("item__session__position", "pk")
    open_rows = list(rows.filter(state__in=Assignment.UNFINISHED)[:LISTED])
    over = rows.exclude(state__in=Assignment.UNFINISHED).order_by("-submitted_at")
    return open_rows + list(over[: LISTED - len(open_rows)])
