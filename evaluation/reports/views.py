"""A study's report as a download, its live tasks beside published numbers, and the tables of the papers beside what is
here."""

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from agents.models import Run
from agents.recipes import published
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.models import Dataset
from evaluation.models import Study
from evaluation.reports.formats import FORMATS
from evaluation.reports.papers import PaperTable, datasets_for, key_of, paper_table, preset_of
from evaluation.reports.tables import report, seen_by
from evaluation.reports.task_plots import drawn
from evaluation.reports.task_tables import COLUMNS, StudyTasks
from evaluation.scores.exporting import to_csv

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


@require_GET
def study_tasks(request: HttpRequest, pk: int) -> HttpResponse:
    """Live runs on MiniWoB++ task by task beside published numbers; `?runs=` chooses up to four."""
    found = _study_tasks(request, pk)
    return render(request, "evaluation/tasks.html", {"study": found.study, "found": found} | drawn(found.table))


@require_GET
def study_tasks_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The same: a row for each task and run."""
    found = _study_tasks(request, pk)
    text = to_csv(COLUMNS, found.table.lines())
    answer = HttpResponse(text, content_type="text/csv; charset=utf-8")
    return attachment(answer, f"study-{pk}-tasks.csv", found.study.project)


def _study_tasks(request: HttpRequest, pk: int) -> StudyTasks:
    visible = rules.visible(request.user, Study.objects.select_related("project"))
    return StudyTasks(request.user, get_object_or_404(visible, pk=pk), request.GET)


@require_GET
def papers(request: HttpRequest) -> HttpResponse:
    """All tables of the papers that compare systems, with how many of their cells have a number of ours."""
    runs, datasets = _own(request)
    preset = str(Study.Preset.FAITHFUL)
    tables = [paper_table(key, runs, datasets, None, preset) for key in published.TABLES]
    by_source: dict[str, list[PaperTable]] = {}
    for table in tables:
        by_source.setdefault(published.SOURCE_WORDS.get(table.source, table.source), []).append(table)
    return render(request, "evaluation/papers.html", {"by_source": by_source})


@require_GET
def paper(request: HttpRequest, slug: str) -> HttpResponse:
    """One table of a paper, cell by cell; `?dataset=` fills it from other data than the paper's, `?preset=` by other
    metrics."""
    key = key_of(slug)
    if key is None:
        raise Http404("There is no such table.")
    runs, datasets = _own(request)
    offered = datasets_for(key, datasets)
    chosen = next((found for found in offered if str(found.pk) == request.GET.get("dataset")), None)
    preset = preset_of(request.GET.get("preset", ""))
    table = paper_table(key, runs, datasets, chosen, preset, preparing.seen_by(request.user))
    context = {
        "table": table,
        "offered": offered,
        "preset": preset,
        "presets": Study.Preset.choices,
        "other_data": table.dataset is not None and table.dataset.source_format != table.data,
        "may_prepare": rules.projects(request.user, "train").exists(),
        "may_evaluate": rules.projects(request.user, "evaluate").exists(),
    }
    return render(request, "evaluation/paper.html", context)


def _own(request: HttpRequest) -> tuple[QuerySet[Run], QuerySet[Dataset]]:
    return rules.visible(request.user, Run.objects.all()), rules.visible(request.user, Dataset.objects.all())
