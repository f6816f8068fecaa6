"""Pages of a project's guard: its verdicts compared with the labels of steps, and the form in which people label."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.models import Dataset, Job, Project
from annotations.text.amounts import whole
from evaluation.guard import report_rows
from evaluation.guard.forecasting import Forecasts, start_forecasts
from evaluation.guard.labelling import asked_step, conversations_to_label, steps_to_label
from evaluation.guard.labels import CRITERION, NO_PEOPLE, SOURCES
from evaluation.guard.measuring import GOLDS, GuardMeasurement, with_packaged_labels
from evaluation.models import BadRiskLabel, RiskLabel, RiskLabelSettled
from evaluation.models.risk_labels import CALLED, NEEDED
from evaluation.scores.exporting import to_csv


@require_GET
def guard_report(request: HttpRequest, slug: str) -> HttpResponse:
    """The report of the guard: how many risky steps it holds and how many harmless ones; `?dataset=` chooses the
    dataset, `?by=` whose labels count."""
    project, datasets, dataset = _asked(request, slug)
    context: dict[str, Any] = {"project": project, "datasets": datasets, "dataset": dataset, "golds": GOLDS.items()}
    context["may_label"] = rules.can(request.user, "review", project)
    context["may_look"] = rules.can(request.user, Job.Kind.RISKS, project)
    if dataset is not None:
        measurement = _measurement(request, dataset)
        report = report_rows.report_of(measurement)
        context |= {
            "report": report,
            "sources": SOURCES.items(),
            "looking": Forecasts(dataset, conversations_to_label(request, dataset)),
            "tables": report_rows.tables(report),
            "ticks": report_rows.ticks(),
            "width": report_rows.WIDTH,
        }
    return render(request, "evaluation/guard_report.html", context | {"criterion": CRITERION, "no_people": NO_PEOPLE})


@require_GET
def guard_report_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The figures of the report as CSV."""
    project, _, dataset = _asked(request, slug)
    report = report_rows.report_of(_measurement(request, dataset)) if dataset else {"splits": {}}
    text = to_csv(report_rows.COLUMNS, report_rows.numbers(report))
    name = f"guard-{dataset.name if dataset else project.slug}.csv"
    return attachment(HttpResponse(text, content_type="text/csv; charset=utf-8"), name, project)


@require_POST
def guard_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts the job that looks at every step of a dataset, and shows it."""
    project, _, dataset = _asked(request, slug)
    rules.require(request.user, Job.Kind.RISKS, project)
    if dataset is None:
        raise Http404
    try:
        return redirect("job", start_forecasts(user=signed_in(request), dataset=dataset).pk)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(f"{reverse('guard-report', args=[project.slug])}?{urlencode({'dataset': dataset.name})}")


@require_http_methods(["GET", "POST"])
def guard_label(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks a person whether a step of a dataset is risky, without saying what others called it; a POST answers and goes
    on to the next. `?step=` asks about one step, to think again."""
    project, datasets, dataset = _asked(request, slug)
    rules.require(request.user, "review", project)
    if request.method == "POST" and dataset is not None:
        return _label(request, project, dataset)
    context: dict[str, Any] = {"project": project, "datasets": datasets, "dataset": dataset}
    if dataset is not None:
        labels = RiskLabel.objects.of(conversations_to_label(request, dataset))
        context |= {
            "asked": asked_step(request, dataset, request.GET.get("step", "")),
            "own": labels.standing().filter(person=signed_in(request)).count(),
            "paired": len(labels.pairs()),
            "total": steps_to_label(request, dataset).count(),
            "looking": Forecasts(dataset, conversations_to_label(request, dataset)),
            "may_look": rules.can(request.user, Job.Kind.RISKS, project),
        }
    context["last"] = whole(request.GET.get("last", ""))
    kinds = [(str(number), kind, words) for number, (kind, words) in enumerate(CALLED.items())]
    return render(request, "evaluation/guard_label.html", context | {"kinds": kinds, "needed": NEEDED})


def _label(request: HttpRequest, project: Project, dataset: Dataset) -> HttpResponse:
    kind = request.POST.get("kind", "")
    step = get_object_or_404(steps_to_label(request, dataset), pk=whole(request.POST.get("step", "")))
    address = f"{reverse('guard-label', args=[project.slug])}?{urlencode({'dataset': dataset.name})}"
    try:
        RiskLabel.objects.give(step, signed_in(request), kind)
    except RiskLabelSettled as error:
        messages.error(request, str(error))
        return redirect(address)
    except BadRiskLabel as error:
        messages.error(request, str(error))
        return redirect(f"{address}&step={step.pk}")
    return redirect(f"{address}&last={step.pk}")


def _measurement(request: HttpRequest, dataset: Dataset) -> GuardMeasurement:
    by = request.GET.get("by", "")
    return report_rows.measurement_for(rules.rights_of(request), dataset, by if by in SOURCES else "")


def _asked(request: HttpRequest, slug: str) -> tuple[Project, list[Dataset], Dataset | None]:
    """The project, its datasets, and the one that `?dataset=` names, by default one that has packaged labels."""
    project = get_object_or_404(rules.projects(request.user), slug=slug)
    datasets = list(project.datasets.order_by("name"))
    packaged = with_packaged_labels([one.pk for one in datasets])
    datasets.sort(key=lambda one: one.pk not in packaged)
    name = request.GET.get("dataset", "")
    found = get_object_or_404(project.datasets, name=name.replace("\0", "")) if name else next(iter(datasets), None)
    return project, datasets, found
