"""Answers where nothing is found, or where we failed: a page or, below /api/, JSON. A failure has the id that finds its
traceback in the log."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views import defaults
from django.views.decorators.csrf import requires_csrf_token

from annotations.jobs import full_disk
from annotations.monitor.outages import is_outage
from webnav_site.health import disk_banner

UNKNOWN = "Something went wrong on our side. What was stored before is safe; the log has the details."
AWAY = "The database is not there for a moment. What was stored before is safe; try again in a few seconds."
HEADINGS = {503: "The database is away for a moment", 507: "The server's disk takes nothing more"}
AWAY_SECONDS = 5  # within which supervision has it back


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """The answer to an unhandled error, with what operators can mend. It needs neither database nor context, which may
    be what failed. Django calls it while it handles the error."""
    error_id = getattr(request, "error_id", "")
    error = sys.exc_info()[1]
    status, detail = _status_and_words(error)
    if request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse({"detail": detail or UNKNOWN, "error_id": error_id}, status=status)
    else:
        told = {"error_id": error_id, "said": detail, "heading": HEADINGS.get(status)}
        page = loader.get_template("500.html").render(told)
        response = HttpResponse(page, status=status)
    if status == 503:
        response["Retry-After"] = str(AWAY_SECONDS)
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer where nothing has this address."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": "Nothing has this address; /api/docs/ lists what there is."}, status=404)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to a request that is refused before any view: a host that is not ours, too many fields."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": "The request is malformed, or its host is not one of this site."}, status=400)
    return defaults.bad_request(request, exception)


def _status_and_words(error: BaseException | None) -> tuple[int, str]:
    """The status of a failure, and a sentence for people; "" where there is nothing to say."""
    if disk := full_disk.said(error):
        return 507, disk
    # A full disk can also stop the database itself.
    return (503, f"{AWAY} {disk_banner()}".strip()) if is_outage(error) else (500, "")
