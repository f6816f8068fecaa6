"""The trail of access as a page and as a download."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations.access import rules
from annotations.access.downloads import stream_rows
from annotations.access.trail import reading as trail
from annotations.models import AccessAction
from annotations.paging import page_of

ROWS = 100


@never_cache
@require_safe
def access_trail(request: HttpRequest) -> HttpResponse:
    chosen = trail.TrailFilter(request.GET, trail.visible(request.user))
    page = page_of(request, chosen.qs, ROWS)
    context = {
        "page": page,
        "newer": page.number - 1,
        "older": page.number + 1 if page.has_next() else 0,
        "may_see": request.user.is_superuser or rules.projects(request.user, "manage").exists(),
        "projects": rules.projects(request.user, "manage").order_by("name"),
        "actions": AccessAction.choices,
        "chosen": request.GET,
    }
    return render(request, "account/trail.html", context)


@never_cache
@require_safe
def export_trail(request: HttpRequest, kind: str) -> HttpResponseBase:
    """The events that the filters leave as a download, oldest first, streamed."""
    rows = trail.TrailFilter(request.GET, trail.visible(request.user)).qs
    return stream_rows(kind, trail.stream(rows), trail.COLUMNS, "access")
