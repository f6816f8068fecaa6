"""The audit trail of the projects that a user administers: a page to search it, and all of it as a download."""

from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations.access import rules
from annotations.access.downloads import stream_rows
from annotations.models import Project
from annotations.tell import audit as trail
from annotations.text.amounts import whole

ROWS = 100
DEEPEST = 50  # whoever goes further back takes the export


@never_cache
@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """The newest changes of one project; `project` chooses which."""
    projects = list(rules.projects(request.user, "manage").order_by("name"))
    chosen = next(
        (row for row in projects if row.slug == request.GET.get("project")), projects[0] if projects else None
    )
    context: dict[str, Any] = {"projects": projects, "project": chosen}
    if chosen is not None:
        filters = _filters(request)
        page = _page(request)
        rows = trail.latest(chosen, ROWS * page + 1, **filters)
        people = get_user_model().objects.filter(memberships__project=chosen).order_by("username")
        context |= {
            "rows": rows[ROWS * (page - 1) : ROWS * page],
            "page": page,
            "newer": page - 1,
            "older": page + 1 if len(rows) > ROWS * page and page < DEEPEST else 0,
            "is_last": page == DEEPEST,
            "models": sorted(trail.tracked_models()),
            "changes": trail.CHANGES,
            "people": people,
            "chosen": {"model": request.GET.get("model"), "change": request.GET.get("change"), "who": filters["who"]},
        }
    return render(request, "annotate/audit.html", context)


@never_cache
@require_safe
def export(request: HttpRequest, slug: str, kind: str) -> HttpResponseBase:
    """All changes that the filters leave, oldest first, streamed."""
    project: Project = get_object_or_404(rules.visible(request.user, Project.objects.all()), slug=slug)
    rules.require(request.user, "manage", project)
    rows = trail.stream(project, **_filters(request))
    return stream_rows(kind, rows, trail.COLUMNS, f"audit-{slug}", project)


def _filters(request: HttpRequest) -> dict[str, Any]:
    """The filters of a request, without values that are not known."""
    model, change, who = (request.GET.get(name, "") for name in ("model", "change", "who"))
    return {
        "models": [model] if model in trail.tracked_models() else None,
        "change": change if change in trail.CHANGES else "",
        "who": whole(who),
    }


def _page(request: HttpRequest) -> int:
    return min(whole(request.GET.get("page", "")) or 1, DEEPEST)
