"""Pages of releases: the list, the checks before a new one, one release, two compared."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html, format_html_join
from django.views.decorators.http import require_GET, require_POST

from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.corpus.browse.views import visible_dataset
from annotations.corpus.forms import ExportForm
from annotations.jobs import running
from annotations.models import Release
from annotations.paging import page_of
from annotations.releases.checking import check_dataset
from annotations.releases.diffing import Difference, Json, details
from annotations.releases.forms import ReleaseForm
from annotations.releases.keeping import under_way
from annotations.releases.open_gold import OpenGold
from annotations.releases.page import difference_rows, findings, release_context
from annotations.releases.redacting import redact
from annotations.releases.releasing import make_release, start_release
from annotations.releases.scanning import SCAN_SECONDS, HoldingDataset, OtherDatasets, scan_dataset
from annotations.releases.taken_out import TakenOut
from annotations.text.amounts import amount

LOOK_SECONDS = 1  # of that in a request that shows it, and is made again until all are read
AT_ONCE = 200  # conversations that are released while the person waits; more are a job
ROWS = 25  # conversations of a difference


@require_GET
def releases(request: HttpRequest, name: str) -> HttpResponse:
    dataset = visible_dataset(request, name)
    may_manage = rules.can(request.user, "manage", dataset.project)
    context = {"dataset": dataset, "releases": dataset.releases.for_list(), "may_manage": may_manage}
    return render(request, "releases/releases.html", context)


def new_release(request: HttpRequest, name: str) -> HttpResponse:
    """The page of a new release: what the checks found in the dataset, and the form that releases it all the same."""
    dataset = visible_dataset(request, name)
    rules.require(request.user, "manage", dataset.project)
    checks = check_dataset(dataset, scan_seconds=SCAN_SECONDS if request.method == "POST" else LOOK_SECONDS)
    latest = dataset.releases.first()
    initial = {"licence": dataset.licence, "consent": latest.consent if latest else ""}
    form = ReleaseForm(request.POST or None, concerns=checks.concerns(), initial=initial)
    if request.method == "POST" and form.is_valid() and checks.privacy.is_complete:
        try:
            if dataset.conversations.count() > AT_ONCE:
                return redirect("job", start_release(dataset, signed_in(request), **form.cleaned_data).pk)
            made = make_release(dataset, user=signed_in(request), **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{made} is released.")
            return redirect("release", name, made.version)
    context = findings(dataset, checks) | {"form": form, "open_gold": OpenGold.of(dataset)}
    return render(request, "releases/new.html", context)


@require_POST
def redact_found(request: HttpRequest, name: str) -> HttpResponse:
    """Take one found text out (`fingerprint`), or all of a kind (`kind`)."""
    dataset = visible_dataset(request, name)
    rules.require(request.user, "manage", dataset.project)
    kind, fingerprint = request.POST.get("kind", ""), request.POST.get("fingerprint", "")
    known = scan_dataset(dataset, SCAN_SECONDS).texts
    chosen = [text for text in known if text.fingerprint == fingerprint or text.kind == kind]
    if not chosen:
        messages.error(request, "This is not in the dataset any more.")
        return redirect("release-new", name)
    try:
        count = sum(redact(dataset, text, signed_in(request)) for text in chosen)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Taken out of {amount(count, 'place')}, and noted as a redaction.")
        if playing := under_way({pk for text in chosen for pk in text.conversations}):
            said = f"An agent plays {amount(playing, 'conversation')} of these now, and may store it once more"
            messages.warning(request, f"{said}: search again when that is over.")
        if others := OtherDatasets(request.user, dataset).holding(chosen):
            messages.warning(request, _said_of(others))
    return redirect("release-new", name)


def _said_of(others: list[HoldingDataset]) -> str:
    """The datasets in which a text still stands, as a sentence with links."""
    linked, named = '<a class="link" href="{}#privacy">{}</a> ({})', "{1} ({2})"
    rows = [
        format_html(linked if one.url else named, one.url, one.dataset, amount(one.places, "place")) for one in others
    ]
    listed = format_html_join(", ", "{}", ([row] for row in rows))
    return format_html("It still stands in other datasets, each of which is redacted for itself: {}.", listed)


@require_GET
def release(request: HttpRequest, name: str, version: str) -> HttpResponse:
    return _release_page(request, _visible_release(request, name, version))


def _release_page(request: HttpRequest, found: Release, export_form: ExportForm | None = None) -> HttpResponse:
    context = release_context(found)
    context["export_form"] = export_form or ExportForm(splits=context["splits"])
    context["may_export"] = rules.can(request.user, "export", found.dataset.project)
    return render(request, "releases/release.html", context)


def export(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """Start an export of the frozen content in the background."""
    found = _visible_release(request, name, version)
    if request.method != "POST":
        return redirect("release", name, version)
    rules.require(request.user, "export", found.dataset.project)
    form = ExportForm(request.POST, splits=found.statistics["splits"])
    if form.is_valid():
        try:
            job = running.start_export(
                user=signed_in(request), dataset=found.dataset, release=version, **form.cleaned_data
            )
            return redirect("job", job.pk)
        except ValidationError as error:
            form.add_error(None, error)
    return _release_page(request, found, form)


@require_GET
def datasheet_file(request: HttpRequest, name: str, version: str) -> HttpResponse:
    found = _visible_release(request, name, version)
    content = HttpResponse(found.datasheet, content_type="text/markdown; charset=utf-8")
    return attachment(content, f"{found.dataset.name}-{found.version}.md", found.dataset.project)


@require_GET
def diff(request: HttpRequest, name: str) -> HttpResponse:
    """Two releases compared, some conversations a page."""
    found = _difference(request, name)
    page = page_of(request, list(found.changes), ROWS)
    context = {
        "dataset": found.newer.dataset,
        "older": found.older,
        "newer": found.newer,
        "releases": found.newer.dataset.releases.all(),
        "counts": found.counts(),
        "page": page,
        "rows": difference_rows(found, list(page), _sees_gold(request, found), _shown(request, found)),
        "query": f"from={found.older.version}&to={found.newer.version}",
    }
    return render(request, "releases/diff.html", context)


@require_GET
def diff_json(request: HttpRequest, name: str) -> JsonResponse:
    found = _difference(request, name)
    rows = details(found, list(found.changes), _sees_gold(request, found), _shown(request, found))
    facts = {"dataset": name, "from": found.older.version, "to": found.newer.version}
    return JsonResponse(facts | {"counts": found.counts(), "conversations": rows})


def _difference(request: HttpRequest, name: str) -> Difference:
    older, newer = (_visible_release(request, name, request.GET.get(side, "")) for side in ("from", "to"))
    return Difference.between(older, newer)


def _sees_gold(request: HttpRequest, found: Difference) -> Callable[[str], bool]:
    return partial(rules.rights_of(request).sees_gold, found.newer.dataset.project_id)


def _shown(request: HttpRequest, found: Difference) -> Callable[[Json], Json]:
    """What of a released conversation is compared for this user: all for those who may export the release that still
    holds what was redacted since."""
    dataset = found.newer.dataset
    return dict if rules.can(request.user, "export", dataset.project) else TakenOut(dataset).hidden


def _visible_release(request: HttpRequest, name: str, version: str) -> Release:
    rows = Release.objects.select_related("dataset__project", "created_by")
    return get_object_or_404(rules.visible(request.user, rows), dataset__name=name, version=version)
