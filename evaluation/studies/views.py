"""The first page, and the pages of studies."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.training.mismatches import unlike_training
from annotations.access import rules
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.paging import page_of
from evaluation.models import Score, Study
from evaluation.scores import exporting, plots
from evaluation.scores.failed_episodes import LABELS
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies import home, watching
from evaluation.studies.forms import BudgetForm, StudyForm, budget_of
from evaluation.studies.page import failures_context, new_study_context, plots_context, study_context
from evaluation.studies.running import resume_study


def home_page(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluation/home.html", home.context(request))


def studies(request: HttpRequest) -> HttpResponse:
    page = page_of(request, _visible(request))
    rows = [(row, row.progress()) for row in page]
    may = rules.projects(request.user, "evaluate").exists()
    return render(request, "evaluation/studies.html", {"page": page, "rows": rows, "may_evaluate": may})


def study_new(request: HttpRequest) -> HttpResponse:
    if not rules.projects(request.user, "evaluate").exists():
        raise PermissionDenied("Starting a study needs the role of an admin in a project; ask one of its admins.")
    form = StudyForm.offered_to(request.user, request.POST or None, request.GET)
    if form.is_bound and (started := form.started(signed_in(request))):
        return redirect("study", started.pk)
    return render(request, "evaluation/study_new.html", new_study_context(request.user, form, request.GET))


@require_POST
def watch(request: HttpRequest) -> HttpResponse:
    """Start an agent on one conversation, and show its decisions as they come."""
    try:
        return redirect(f"{reverse('trajectory', args=[watching.watch(signed_in(request)).pk])}?watch=1")
    except ValueError as error:
        messages.error(request, str(error))
    return redirect("home")


def study(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    context = study_context(found, request.GET, rules.rights_of(request))
    recipes = {run.recipe_sha256: run.recipe for run in context["runs"]}  # often many seeds and splits of one
    context["unlike"] = list(
        dict.fromkeys(said for recipe in recipes.values() for said in unlike_training(recipe, found.project_id))
    )
    return render(request, "evaluation/study.html", context)


@require_GET
def study_plots(request: HttpRequest, pk: int) -> HttpResponse:
    """Recall at k, success by turn, websites by recipe, time and money against quality."""
    found = get_object_or_404(_visible(request), pk=pk)
    return render(request, "evaluation/plots.html", plots_context(rules.rights_of(request), found, request.GET))


@require_GET
def study_plots_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The points of all plots that this person may see; of one where `plot` names it."""
    found = get_object_or_404(_visible(request), pk=pk)
    context = plots_context(rules.rights_of(request), found, request.GET)
    shown = {plot.data.name: plot.data for plot in context["plots"]}
    if "plot" in request.GET and request.GET["plot"] not in shown:
        raise Http404
    chosen = [shown[request.GET["plot"]]] if "plot" in request.GET else list(shown.values())
    text = exporting.to_csv(plots.COLUMNS, (row for data in chosen for row in data.rows()))
    name = f"study-{pk}-{request.GET.get('plot', 'plots')}.csv"
    return attachment(HttpResponse(text, content_type="text/csv; charset=utf-8"), name, found.project)


@require_GET
def study_state(request: HttpRequest, pk: int) -> JsonResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    return JsonResponse(found.progress().to_dict())


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    rules.require(request.user, "evaluate", found.project)
    found.cancel(store_all_scores)
    return redirect("study", pk)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    rules.require(request.user, "evaluate", found.project)
    try:
        resume_study(found)
    except ValueError as error:
        messages.error(request, str(error))
    return redirect("study", pk)


@require_POST
def budget(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what the model calls of a study may use; a study that stopped at its budget is resumed by hand."""
    found = get_object_or_404(_visible(request), pk=pk)
    rules.require(request.user, "evaluate", found.project)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        for name, refused in form.errors.get_json_data().items():
            why = " ".join(one["message"] for one in refused)
            messages.error(request, f"{form[name].label}: {why} Leave it empty for no limit.")
        return redirect("study", pk)
    try:
        found.set_budget(**budget_of(form.cleaned_data))
    except ValueError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The budget is changed.")
    return redirect("study", pk)


@require_GET
def scores(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    """Every score of the study's runs, both metric sets, as a download. `metric` and `preset` in the address: only the
    headlines of these, as they are drawn."""
    found = get_object_or_404(_visible(request), pk=pk)
    drawn = {name: request.GET[name].replace("\0", "") for name in ("metric", "preset") if name in request.GET}
    chosen = Score.objects.filter(run__in=found.runs.all(), **(drawn | {"headline": True} if drawn else {}))
    rows = exporting.metric_rows(chosen)
    if kind == "json":
        return attachment(JsonResponse(rows, safe=False), f"study-{pk}.json", found.project)
    if kind != "csv":
        raise Http404
    text = exporting.to_csv(exporting.METRIC_COLUMNS, rows)
    return attachment(HttpResponse(text, content_type="text/csv; charset=utf-8"), f"study-{pk}.csv", found.project)


def failing(request: HttpRequest, pk: int) -> HttpResponse:
    """The failed steps, or live episodes, of one run, by reason; each leads to its replay."""
    context = failures_context(get_object_or_404(_visible(request), pk=pk), request.GET, request.user)
    page = page_of(request, context.pop("rows"))
    for row in page:
        row.seen = context["seen"].get(row.pk, "")
    if "since" in context:
        context["since"].note(page)
    for row in page if context["run"].dataset.is_live else ():
        row.cause_label = LABELS[row.cause]
    project = context["study"].project
    may = {"may_ask": rules.can(request.user, "manage", project)}
    may["may_explain"] = rules.can(request.user, "explain", project)
    return render(request, "evaluation/failures.html", context | {"page": page} | may)


def _visible(request: HttpRequest) -> QuerySet[Study]:
    return rules.visible(request.user, Study.objects.select_related("project", "created_by"))
