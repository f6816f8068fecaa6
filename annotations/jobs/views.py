"""Pages of background jobs: starting imports and exports, watching them, downloads."""

import csv
import io
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from annotations.access import rules
from annotations.access.downloads import attachment, safe_cell, send_file
from annotations.access.people import signed_in
from annotations.corpus.browse.views import dataset_page, visible_dataset
from annotations.corpus.forms import ExportForm, ImportForm
from annotations.jobs import running as work
from annotations.models import ConversationTally, Dataset, Job
from annotations.paging import page_of

SHOWN_ERRORS = 100
MAX_LISTED = 200
FORM_BYTES = 1024 * 1024  # room for the form's other fields beside the file


@csrf_exempt  # checked in `_import`: the token is in the body, which must not be read before size and role are known
def import_page(request: HttpRequest) -> HttpResponse:
    if not rules.projects(request.user, "import").exists():
        raise PermissionDenied("Importing needs the role of an admin in a project; ask one of its admins.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_UPLOAD_BYTES + FORM_BYTES:
        return HttpResponse("The upload is too large; put it below IMPORT_ROOT on the server.", status=413)
    return _import(request)


@csrf_protect
def _import(request: HttpRequest) -> HttpResponse:
    projects = rules.projects(request.user, "import").order_by("name")
    initial = {"name": request.GET.get("name", ""), "project": _project_of(request)}
    form = ImportForm(request.POST or None, request.FILES or None, projects=projects, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("job", work.start_import(user=signed_in(request), **form.cleaned_data).pk)
        except ValidationError as error:
            form.add_error(None, error)
    names = Dataset.objects.filter(project__in=projects).order_by("name").values_list("name", flat=True)
    folder = request.GET.get("folder", "")
    context = {"form": form, "names": names, "folder": folder, "entries": server_files(folder)}
    return render(request, "annotations/import.html", context | {"max_bytes": settings.MAX_UPLOAD_BYTES})


def export_page(request: HttpRequest, name: str) -> HttpResponse:
    found = visible_dataset(request, name)
    if request.method != "POST":
        return redirect("dataset", name)
    rules.require(request.user, "export", found.project)
    form = ExportForm(request.POST, splits=ConversationTally.by_split(found.pk).values_list("split", flat=True))
    if form.is_valid():
        try:
            return redirect("job", work.start_export(user=signed_in(request), dataset=found, **form.cleaned_data).pk)
        except ValidationError as error:
            form.add_error(None, error)
    return dataset_page(request, found, form)


def jobs(request: HttpRequest) -> HttpResponse:
    page = page_of(request, _visible(request))
    rows = [(row, row.live()) for row in page]
    may_import = rules.projects(request.user, "import").exists()
    return render(request, "annotations/jobs.html", {"page": page, "rows": rows, "may_import": may_import})


def job(request: HttpRequest, pk: int) -> HttpResponse:
    found = _readable_job(request, pk)
    report = found.report
    may = rules.can(request.user, found.kind, found.project)
    unsuccessful = (Job.State.FAILED, Job.State.CANCELLED, Job.State.DONE_WITH_ERRORS)
    context = {
        "job": found,
        "live": found.live(),
        "is_transfer": found.kind in (Job.Kind.IMPORT, Job.Kind.EXPORT),
        "errors": report.get("errors", [])[:SHOWN_ERRORS],
        "error_count": report.get("error_count", len(report.get("errors", []))),
        "reasons": report.get("reasons", {}).items(),
        "may_manage": rules.can(request.user, "manage", found.project),
        "may_cancel": may and not found.is_over and not found.cancel_requested,
        "may_retry": may and found.state in unsuccessful,
        "may_download": found.has_file() and rules.may_download(request.user, found),
    }
    return render(request, "annotations/job.html", context)


@require_GET
def job_state(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(get_object_or_404(_visible(request), pk=pk).live().to_dict())


@require_POST
def cancel_job(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    rules.require(request.user, found.kind, found.project)
    found.cancel()
    return redirect("job", pk)


@require_POST
def retry_job(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    rules.require(request.user, found.kind, found.project)
    try:
        work.retry(found)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("job", pk)


@require_GET
def job_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The result of an export; uploads are never given back."""
    found = get_object_or_404(_visible(request), pk=pk)
    if not found.has_file():
        raise Http404
    rules.require_download(request.user, found)
    return send_file(request, found.file, found.download_name, "application/zip", found.project)


@require_GET
def job_errors(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    rows = _readable_job(request, pk).report.get("errors", [])
    if kind == "json":
        return attachment(JsonResponse(rows, safe=False), f"job-{pk}-errors.json")
    if kind != "csv":
        raise Http404
    out = io.StringIO()
    writer = csv.writer(out)
    columns = ("file", "record", "field", "message")
    writer.writerow(columns)
    writer.writerows([safe_cell(row.get(column, "")) for column in columns] for row in rows)
    return attachment(HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8"), f"job-{pk}-errors.csv")


def server_files(folder: str) -> list[dict]:
    """What lies in a folder below IMPORT_ROOT: path from there, whether it is a folder, size; [] for other paths."""
    try:
        root, here = work.below_import_root(""), work.below_import_root(folder)
    except ValidationError:
        return []
    if not here.is_dir():
        return []
    found = sorted(here.iterdir(), key=lambda path: (path.is_file(), path.name))[:MAX_LISTED]
    return [_entry(path, root) for path in found if not path.name.startswith(".") and not path.is_symlink()]


def _entry(path: Path, root: Path) -> dict:
    size = path.stat().st_size if path.is_file() else None
    return {"path": str(path.relative_to(root)), "name": path.name, "is_folder": path.is_dir(), "size": size}


def _visible(request: HttpRequest) -> QuerySet[Job]:
    return rules.visible(request.user, Job.objects.select_related("project", "dataset", "created_by"))


def _readable_job(request: HttpRequest, pk: int) -> Job:
    """A job, with as much of its report and last error as the user may read."""
    found = get_object_or_404(_visible(request), pk=pk)
    found.report, found.last_error = rules.told_of(rules.rights_of(request), found)
    return found


def _project_of(request: HttpRequest):
    """The project of the dataset that the link names, so that "Import more" asks nothing that is known."""
    name = slugify(request.GET.get("name", ""))
    named = rules.visible(request.user, Dataset.objects.filter(name=name))
    return named.values_list("project", flat=True).first()
