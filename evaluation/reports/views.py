"""A study's report as a download."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from annotations.access import rules
from annotations.access.downloads import attachment
from evaluation.models import Study
from evaluation.reports.formats import FORMATS
from evaluation.reports.tables import report, seen_by

# suffix -> format, media type
KINDS = {
    "json": ("json", "application/json"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "md": ("md", "text/markdown; charset=utf-8"),
    "tex": ("latex", "text/x-tex; charset=utf-8"),
}


@require_GET
def study_report(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    """The tables of `manage.py report`; `?preset=` chooses the metric set."""
    study = get_object_or_404(rules.visible(request.user, Study.objects.all()), pk=pk)
    preset = request.GET.get("preset", "")
    if kind not in KINDS or (preset and preset not in Study.Preset.values):
        raise Http404
    name, media_type = KINDS[kind]
    text = FORMATS[name](report([study], preset, seen_by(rules.rights_of(request))))
    return attachment(HttpResponse(text, content_type=media_type), f"study-{pk}-report.{kind}", study.project)
