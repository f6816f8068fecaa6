"""Pages of releases: what there is, what is checked before a new one, one release, two compared."""

from functools import partial
from itertools import pairwise

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.corpus.forms import ExportForm
from annotations.corpus.views import visible_dataset
from annotations.jobs import running
from annotations.models import Conversation, Dataset, Redaction, Release
from annotations.releases.checking import KIND_WORDS, Checks, check_dataset, kind_words
from annotations.releases.datasheet import PLACES, statistics_table
from annotations.releases.diffing import NAMES, Difference, compare, details
from annotations.releases.forms import ReleaseForm
from annotations.releases.redacting import redact
from annotations.releases.releasing import make_release, start_release
from annotations.releases.scanning import PrivateText, scan_dataset
from annotations.text.guidelines import blocks

SCAN_SECONDS = 8  # of reading pages that were not read before, in one request
AT_ONCE = 200  # conversations that are released while the person waits; more are a job
SHOWN = 50  # findings of a kind
ROWS = 25  # conversations of a difference
PAGE_NAMES = {NAMES[name] for name in ("html", "raw_html", "html_after", "negatives")}


@require_GET
def releases(request: HttpRequest, name: str) -> HttpResponse:
    dataset = visible_dataset(request, name)
    rows = list(dataset.releases.select_related("created_by").annotate(size=Count("conversations")).order_by("-id"))
    for row, earlier in pairwise(rows):
        vars(row)["earlier"] = earlier.version  # for the template
    return render(
        request,
        "releases/releases.html",
        {"dataset": dataset, "releases": rows, "may_manage": rules.can(request.user, "manage", dataset.project)},
    )


def new_release(request: HttpRequest, name: str) -> HttpResponse:
    """What is found in the dataset, and the form that releases it all the same."""
    dataset = visible_dataset(request, name)
    rules.require(request.user, "manage", dataset.project)
    checks = check_dataset(dataset, scan_seconds=SCAN_SECONDS)
    latest = dataset.releases.first()
    initial = {"licence": dataset.licence, "consent": latest.consent if latest else ""}
    form = ReleaseForm(request.POST or None, concerns=checks.concerns(), initial=initial)
    if request.method == "POST" and form.is_valid() and checks.privacy.is_complete:
        try:
            if dataset.conversations.count() > AT_ONCE:
                return redirect("job", start_release(dataset, request.user, **form.cleaned_data).pk)
            made = make_release(dataset, user=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{dataset} {made.version} is released.")
            return redirect("release", name, made.version)
    return render(request, "releases/new.html", _findings(dataset, checks) | {"form": form})


def _findings(dataset: Dataset, checks: Checks) -> dict:
    """What the page of a new release shows of the checks."""
    kinds = []
    for kind in KIND_WORDS:
        if texts := checks.privacy.of_kind(kind):
            rows = [_row(text) for text in texts[:SHOWN]]
            kinds.append({"kind": kind, "words": kind_words(kind, len(texts)), "count": len(texts), "texts": rows})
    return {
        "dataset": dataset,
        "checks": checks,
        "concerns": checks.concerns(),
        "kinds": kinds,
        "pairs": checks.near_duplicates[:SHOWN],
        "tasks": checks.shared_tasks[:SHOWN],
        "redactions": Redaction.objects.filter(dataset=dataset).count(),
    }


def _row(text: PrivateText) -> dict:
    counts = [(words, text.places[place]) for place, words in PLACES.items() if place in text.places]
    places = ", ".join(words if count == 1 else f"{words} {count:,}×" for words, count in counts)
    return {"found": text, "places": places, "conversations": len(text.conversations)}


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
        count = sum(redact(dataset, text, request.user) for text in chosen)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, f"Taken out of {count:,} place{'' if count == 1 else 's'}, and noted as a redaction.")
    return redirect("release-new", name)


@require_GET
def release(request: HttpRequest, name: str, version: str) -> HttpResponse:
    return _release_page(request, _visible_release(request, name, version))


def _release_page(request: HttpRequest, found: Release, export_form: ExportForm | None = None) -> HttpResponse:
    splits, rows = statistics_table(found.statistics)
    earlier = found.dataset.releases.filter(pk__lt=found.pk).first()
    context = {
        "dataset": found.dataset,
        "release": found,
        "splits": splits,
        "rows": rows,
        "size": found.conversations.count(),
        "sheet": [
            block for block in blocks(found.datasheet) if not block.lines[0].startswith("|")
        ],  # its table is above
        "earlier": earlier,
        "export_form": export_form or ExportForm(splits=splits),
        "may_export": rules.can(request.user, "export", found.dataset.project),
    }
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
            job = running.start_export(user=request.user, dataset=found.dataset, release=version, **form.cleaned_data)
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
    page = Paginator(list(found.changes), ROWS).get_page(request.GET.get("page"))
    context = {
        "dataset": found.newer.dataset,
        "older": found.older,
        "newer": found.newer,
        "releases": found.newer.dataset.releases.all(),
        "counts": found.counts(),
        "page": page,
        "rows": _links(found, details(found, list(page), _sees_gold(request, found))),
        "query": f"from={found.older.version}&to={found.newer.version}",
    }
    return render(request, "releases/diff.html", context)


def _links(found: Difference, rows: list[dict]) -> list[dict]:
    """The rows with the page of each conversation that is still there, and what is told of each turn in short."""
    names = [row["source_id"] for row in rows]
    there = Conversation.objects.filter(dataset=found.newer.dataset, source_id__in=names)
    pks = dict(there.values_list("source_id", "pk"))
    for turn in (turn for row in rows for turn in row["turns"]):
        turn["says_words"] = any("words" in field for field in turn["fields"])
        told = [step for step in turn["steps"] if not _only_pages(step)]
        turn["only_pages"], turn["steps"] = len(turn["steps"]) - len(told), told
    return [row | {"pk": pks.get(row["source_id"])} for row in rows]


def _only_pages(step: dict) -> bool:
    """Whether nothing differs but what the page and its candidates hold, which a line for all such steps tells."""
    return step["change"] == "changed" and {field["field"] for field in step["fields"]} <= PAGE_NAMES


@require_GET
def diff_json(request: HttpRequest, name: str) -> JsonResponse:
    found = _difference(request, name)
    rows = details(found, list(found.changes), _sees_gold(request, found))
    facts = {"dataset": name, "from": found.older.version, "to": found.newer.version}
    return JsonResponse(facts | {"counts": found.counts(), "conversations": rows})


def _difference(request: HttpRequest, name: str) -> Difference:
    older, newer = (_visible_release(request, name, request.GET.get(side, "")) for side in ("from", "to"))
    return compare(older, newer)


def _sees_gold(request: HttpRequest, found: Difference):
    return partial(rules.rights_of(request).sees_gold, found.newer.dataset.project_id)


def _visible_release(request: HttpRequest, name: str, version: str) -> Release:
    rows = Release.objects.select_related("dataset__project", "created_by")
    return get_object_or_404(rules.visible(request.user, rows), dataset__name=name, version=version)
