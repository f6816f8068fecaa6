"""What is answered when we failed: a page or JSON, both with the id that finds the traceback in the log."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """Needs neither database nor context: those may be what failed."""
    error_id = getattr(request, "error_id", "")
    if request.path.startswith("/api/"):
        detail = "Something went wrong on our side. What was stored before is safe; the log has the details."
        return JsonResponse({"detail": detail, "error_id": error_id}, status=500)
    page = loader.get_template("500.html").render({"error_id": error_id})
    return HttpResponse(page, status=500)
