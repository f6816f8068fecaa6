"""Pages of runs."""

from django.core.paginator import Paginator
from django.db.models import Avg, Count, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from agents.models import Run, Trajectory
from agents.recipes import literature as book
from agents.runs.progress import run_live
from annotations.access import rules

ROWS = 50
ORDERS = {
    "conversation": ("conversation__position", "id"),
    "worst": ("right_steps", "conversation__position", "id"),
}


def runs(request: HttpRequest) -> HttpResponse:
    page = Paginator(_visible(request).order_by("-id"), ROWS).get_page(request.GET.get("page"))
    rows = [(row, run_live(row)) for row in page]
    return render(request, "agents/runs.html", {"page": page, "rows": rows})


def run(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_visible(request), pk=pk)
    # What was right at single steps tells what gold is; only the scores of whole runs are for everybody.
    rights = rules.rights_of(request)
    gold = rights.sees_gold(found.dataset.project_id, found.split)
    order = "worst" if gold and request.GET.get("order") == "worst" else "conversation"
    page = Paginator(_in_order(found, order), ROWS).get_page(request.GET.get("page"))
    page.object_list = trajectories(found, list(page))
    context = {
        "run": found,
        "live": run_live(found),
        "changed": _changed(found),
        "order": order,
        "page": page,
        "study": found.studies.order_by("-id").first(),
        "gold": gold,
        "error": rights.message(found.error, found.dataset.project_id, found.split),
    }
    return render(request, "agents/run.html", context)


@require_GET
def run_state(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(run_live(get_object_or_404(_visible(request), pk=pk)).to_dict())


def _in_order(found: Run, order: str) -> QuerySet:
    """The ids of a run's trajectories; by success all of its steps must be counted, so only where that is asked."""
    rows = found.trajectories.all()
    if order == "worst":
        rows = rows.annotate(right_steps=Count("steps", filter=Q(steps__success=True)))
    return rows.order_by(*ORDERS[order]).values_list("pk", flat=True)


def trajectories(found: Run, pks: list[int]) -> list[Trajectory]:
    """These trajectories of a run with their stored steps, accuracies and the place of the first failure."""
    failed = Q(steps__success=False)
    rows = (
        found.trajectories.filter(pk__in=pks)
        .select_related("conversation__website")
        .annotate(
            done=Count("steps"),
            right_elements=Count("steps", filter=Q(steps__element_correct=True)),
            operation_f1=Avg("steps__operation_f1"),
            right_steps=Count("steps", filter=Q(steps__success=True)),
            first_failure=Min("steps__seq", filter=failed),
            errors=Count("steps", filter=~Q(steps__error="")),
        )
    )
    return sorted(rows, key=lambda row: pks.index(row.pk))


def _visible(request: HttpRequest) -> QuerySet[Run]:
    rows = Run.objects.with_progress().select_related("dataset__project", "created_by")
    return rules.visible(request.user, rows)


def _changed(found: Run) -> dict:
    """Settings that differ from the recipe of that name; {} where the stored one cannot be read any more."""
    try:
        return book.changed(book.from_dict(found.recipe))
    except (KeyError, TypeError, ValueError):
        return {}
