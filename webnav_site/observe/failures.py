"""What is answered when we failed: a page or JSON, both with the id that finds the traceback in the log."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from annotations.jobs import full_disk


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """Needs neither database nor context: those may be what failed. A full disk is said; Django calls this while it
    handles the error."""
    error_id = getattr(request, "error_id", "")
    full = full_disk.is_full(sys.exc_info()[1])
    status = 507 if full else 500
    if request.path.startswith("/api/"):
        detail = "Something went wrong on our side. What was stored before is safe; the log has the details."
        return JsonResponse({"detail": full_disk.MESSAGE if full else detail, "error_id": error_id}, status=status)
    page = loader.get_template("500.html").render({"error_id": error_id, "said": full_disk.MESSAGE if full else ""})
    return HttpResponse(page, status=status)
