"""Pages of campaigns: the list, their rules and guidelines, how far they are, and the bin."""

from datetime import datetime

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.access import rules
from annotations.access.people import signed_in
from annotations.campaigns.forms import CampaignForm, GuidelineForm
from annotations.campaigns.holding_up import hindrances
from annotations.campaigns.places import NO_BATCH, STATES
from annotations.campaigns.progress import forecast, progress_of
from annotations.models import Campaign, Dataset, Item, Session, Stage
from annotations.models.work.campaigns import KEPT
from annotations.text import guidelines
from annotations.text.amounts import whole

LISTS = ("places", "proposals")  # pages of the rows behind its numbers, for those who review


def campaigns(request: HttpRequest) -> HttpResponse:
    rows = list(rules.visible(request.user, Campaign.objects.live().select_related("project", "source")))
    progress = progress_of(rows)
    context = {
        "rows": [(row, progress[row.pk]) for row in rows],
        "states": STATES,
        "may_manage": rules.projects(request.user, "manage").exists(),
    }
    return render(request, "annotate/campaigns.html", context)


def new(request: HttpRequest) -> HttpResponse:
    _require_a_managed_project(request)
    return _form_page(request, None)


def edit(request: HttpRequest, pk: int) -> HttpResponse:
    return _form_page(request, managed_campaign(request, pk))


def campaign(request: HttpRequest, pk: int) -> HttpResponse:
    found = visible_campaign(request, pk)
    progress = progress_of([found])[found.pk]
    stages = [
        (stage, label, progress.stages[stage], forecast(found, stage, progress.stages[stage].left))
        for stage, label in Stage.choices
    ]
    may = {ability: rules.can(request.user, ability, found.project) for ability in ("manage", "review")}
    context = {
        "campaign": found,
        "progress": progress,
        "stages": stages,
        **{name: reverse(f"annotate-campaign-{name}", args=[pk]) if may["review"] else "" for name in LISTS},
        "held_up": [(one, may[one.needs]) for one in hindrances([pk])[pk]],
        "states": STATES,
        "people": [(name, {"person": name}, stages) for name, stages in sorted(progress.people.items())],
        "batches": [(name, {"batch": name or NO_BATCH}, stages) for name, stages in sorted(progress.batches.items())],
        "guideline": found.guidelines.first(),
        "rates": found.proposals.pass_rates(),
        "may_manage": may["manage"],
        "may_review": may["review"],
        "unseen": Item.objects.unseen_places(found),
    }
    return render(request, "annotate/campaign.html", context)


def guideline(request: HttpRequest, pk: int) -> HttpResponse:
    """A version of the guidelines (the newest unless ?version= names one); POST makes the next one."""
    found = visible_campaign(request, pk)
    form = None
    if request.method == "POST":
        rules.require(request.user, "manage", found.project)
        form = GuidelineForm(request.POST)
        if form.is_valid() and _add_version(request, found, form):
            return redirect("annotate-guidelines", pk)
    versions = list(found.guidelines.select_related("created_by"))
    wanted = whole(request.GET.get("version", ""))
    shown = versions[0] if wanted is None else get_object_or_404(found.guidelines, version=wanted)
    before = next((one for one in versions if one.version == shown.version - 1), None)
    context = {
        "campaign": found,
        "versions": versions,
        "shown": shown,
        "blocks": guidelines.blocks(shown.text),
        "before": before,
        "changes": guidelines.changes(before.text, shown.text) if before and "diff" in request.GET else None,
        "may_manage": rules.can(request.user, "manage", found.project),
        "form": form or GuidelineForm(initial={"text": versions[0].text, "version": versions[0].version}),
        "editing": form is not None or "edit" in request.GET,
    }
    return render(request, "annotate/guidelines.html", context)


@require_POST
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """Close a campaign, so that nobody gets its items, or open it again."""
    found = managed_campaign(request, pk)
    if found.closed_at:
        found.reopen()
    else:
        found.close()
    messages.success(request, f"{found} is {'closed: nobody gets its items' if found.closed_at else 'open again'}.")
    return redirect("annotate-campaign", pk)


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    found = managed_campaign(request, pk)
    found.put_into_bin()
    messages.success(request, f"{found} is in the bin; it can be restored for {KEPT.days} days.")
    return redirect("annotate-bin")


def bin_page(request: HttpRequest) -> HttpResponse:
    """What was deleted in the user's projects, with the time that is left to restore it."""
    _require_a_managed_project(request)
    mine = rules.projects(request.user, "manage")
    lost = Campaign.objects.restorable().filter(project__in=mine).select_related("project")
    sessions = (
        Session.objects.restorable()
        .filter(campaign__project__in=mine, campaign__deleted_at=None)
        .select_related("campaign")
        .order_by("-deleted_at")
    )
    rows: list[tuple[str, Campaign | Session, datetime]] = [
        (kind, one, one.deleted_at + KEPT)
        for kind, found in (("campaign", lost.order_by("-deleted_at")), ("session", sessions))
        for one in found
        if one.deleted_at is not None
    ]
    return render(request, "annotate/bin.html", {"rows": rows, "days": KEPT.days})


@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a campaign out of the bin."""
    rows = rules.visible(request.user, Campaign.objects.restorable().select_related("project"))
    found = get_object_or_404(rows, pk=pk)
    rules.require(request.user, "manage", found.project)
    found.take_out_of_bin()
    messages.success(request, f"{found} is back.")
    return redirect("annotate-campaign", pk)


@require_POST
def restore_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a session out of the bin, with the tasks that it had."""
    rows = rules.visible(request.user, Session.objects.restorable().select_related("campaign__project"))
    found = get_object_or_404(rows, pk=pk)
    rules.require(request.user, "manage", found.campaign.project)
    found.take_out_of_bin()
    messages.success(request, f"{found} is back in {found.campaign}.")
    return redirect("annotate-organise", found.campaign_id)


def visible_campaign(request: HttpRequest, pk: int) -> Campaign:
    rows = Campaign.objects.live().select_related("project", "source", "target")
    return get_object_or_404(rules.visible(request.user, rows), pk=pk)


def managed_campaign(request: HttpRequest, pk: int) -> Campaign:
    found = visible_campaign(request, pk)
    rules.require(request.user, "manage", found.project)
    return found


def _require_a_managed_project(request: HttpRequest) -> None:
    if not rules.projects(request.user, "manage").exists():
        raise PermissionDenied("This needs an admin of a project; ask one of them.")


def _form_page(request: HttpRequest, found: Campaign | None) -> HttpResponse:
    sources = Dataset.objects.filter(project__in=rules.projects(request.user, "manage"))
    if found:
        sources = sources.filter(project=found.project)
    form = CampaignForm(request.POST or None, instance=found, sources=sources)
    if request.method == "POST" and form.is_valid():
        saved = form.save_for(request.user)
        if form.said:
            messages.info(request, form.said)
        return redirect("annotate-campaign" if found else "annotate-organise", saved.pk)
    return render(request, "annotate/campaign_form.html", {"form": form, "campaign": found})


def _add_version(request: HttpRequest, found: Campaign, form: GuidelineForm) -> bool:
    """Store the next version of the guidelines, unless somebody has made one since the form was opened; whether the
    form is done with."""
    newest = found.guidelines.first()
    assert newest is not None  # a campaign begins with one
    if form.cleaned_data["version"] != newest.version:
        form.add_error(
            "text", f"{newest.created_by or 'Somebody'} made version {newest.version} meanwhile: compare first."
        )
        return False
    if form.cleaned_data["text"] == newest.text:
        messages.info(request, "Nothing was changed, so no version was made.")
        return True
    try:
        with transaction.atomic():
            made = newest.followed_by(form.cleaned_data["text"], signed_in(request))
    except IntegrityError:
        form.add_error("text", f"Somebody made version {newest.version + 1} at the same moment: compare first.")
        return False
    messages.success(request, f"Version {made.version} counts for everything begun from now on.")
    return True
