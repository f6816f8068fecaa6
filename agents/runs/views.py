"""Pages of runs."""

from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from agents.cookbook import saved
from agents.models import Run
from agents.models.runs import RunQuerySet
from agents.recipes import differences, literature
from agents.runs import writers
from agents.runs.finding import find_steps
from agents.stages.registry import may_overrule, ranks_only
from annotations.access import rules
from annotations.access.people import signed_in
from annotations.paging import page_of


def runs(request: HttpRequest) -> HttpResponse:
    page = page_of(request, _visible(request).order_by("-id"))
    rows = [(row, row.progress()) for row in page]
    return render(request, "agents/runs.html", {"page": page, "rows": rows})


def run(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    # What was right at single steps tells what gold is; only the scores of whole runs are for everybody.
    rights = rules.rights_of(request)
    gold = rights.sees_gold(found.dataset.project_id, found.split)
    order = "worst" if gold and request.GET.get("order") == "worst" else "conversation"
    recipe = literature.readable(found.recipe)
    overrules = recipe is not None and may_overrule(recipe)
    guards = recipe is not None and recipe.act.guard != "none" and not found.dataset.is_live
    parents = _visible(request).of_same_work(found).filter(recipe_name=recipe.parent) if recipe else Run.objects.none()
    context = {
        "run": found,
        "live": found.progress(),
        "changed": differences.changed_settings(found.recipe),
        "order": order,
        "written": writers.sentences(found.recipe_name, writers.RunWriters(found).written()),
        "page": _page_of(request, found, order),
        "study": found.newest_study(),
        "has_recipe": found.recipe_name in saved.names(request.user),
        "gold": gold,
        "ranks_only": ranks_only(found.recipe),
        "overruled": found.steps.overruled().count() if gold and overrules else None,
        "would_hold": found.steps.that_guard_would_hold().count() if gold and guards else None,
        "varied": parents.first(),
        "found": find_steps(signed_in(request), found, request.GET.get("find", "")) if gold else None,
        "error": rights.message(found.error, found.dataset.project_id, found.split),
    }
    return render(request, "agents/run.html", context)


@require_GET
def run_state(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(get_object_or_404(_visible(request), pk=pk).progress().to_dict())


def _page_of(request: HttpRequest, found: Run, order: str) -> Page[Any]:
    """A page of the run's trajectories. What is stored of them is counted only for those that the page shows."""
    rows = found.trajectories.worst_first() if order == "worst" else found.trajectories.in_order()
    page = page_of(request, rows.values_list("pk", flat=True))
    shown = found.trajectories.with_results().in_bulk(list(page))
    page.object_list = [shown[pk] for pk in page if pk in shown]
    return page


def _visible(request: HttpRequest) -> RunQuerySet:
    rows = Run.objects.with_progress().select_related("dataset__project", "created_by")
    return rules.visible(request.user, rows)
