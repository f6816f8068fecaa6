"""What is done at every request: the trail of access gets to know who acts, too many tries are answered, browsers are
remembered."""

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase
from django.shortcuts import redirect, render
from psycopg.errors import DatetimeFieldOverflow, InvalidTimeZoneDisplacementValue, NumericValueOutOfRange

from annotations.access import factors
from annotations.access.downloads import Download
from annotations.access.trail.events import present, record
from annotations.access.tries import throttle
from annotations.models import AccessAction

NUL = "A text of the request holds the character U+0000, which no text here may hold."
TOO_LARGE = "A number of the request is larger than what is kept here."
NO_MOMENT = "A moment of the request is none that can be kept here."

# Pages by which one gets a second factor, and those that everybody sees.
NEEDS_NO_FACTOR = {
    *("account", "login", "logout", "healthz", "invite", "account_reauthenticate", "account_change_password"),
    *("account_set_password", "mfa_index", "mfa_activate_totp", "mfa_add_webauthn", "mfa_view_recovery_codes"),
    *("mfa_reauthenticate", "mfa_reauthenticate_webauthn", "socialaccount_connections", "mfa_list_webauthn"),
}


class AccessMiddleware:
    """Records downloads, remembers browsers in which somebody signed in, and turns away who lacks a second factor.
    Stands behind the middleware that finds the user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = present.set(request)
        try:
            response = self.get_response(request)
        finally:
            present.reset(token)
        if name := getattr(request, "signed_in_as", ""):
            throttle.remember_device(response, name, secure=settings.HTTPS)
        if _is_taken(request, response):
            filename, project = cast(Download, response).download_of
            record(
                AccessAction.DOWNLOAD, f"downloaded {filename}", about=request.path, project=project, request=request
            )
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """404 for an address with U+0000 in a name, which the database would refuse to look up. An administrator who
        lacks the second factor that the site requires is sent to their account page."""
        if any("\0" in part for part in kwargs.values() if isinstance(part, str)):
            raise Http404
        match = request.resolver_match
        assert match is not None  # a view was found
        if not hasattr(request, "user") or match.namespaces == ["api"] or (match.url_name or "") in NEEDS_NO_FACTOR:
            return None
        if not factors.is_missing(request.user):
            return None
        messages.error(request, factors.WHY)
        return redirect("account")

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Too many tries as a page; the REST API answers such an error by itself."""
        return too_many_tries(request, error) if isinstance(error, throttle.TooManyTries) else None


def _is_taken(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether the response is a download to be recorded. One that is taken in ranges counts once, at its first byte;
    images do not count, as one page shows many."""
    if not hasattr(response, "download_of") or request.method == "HEAD":
        return False
    begins = response.headers.get("Content-Range", "bytes 0-").startswith("bytes 0-")
    return response.status_code in {200, 206} and begins and not response["Content-Type"].startswith("image/")


def too_many_tries(request: HttpRequest, error: throttle.TooManyTries) -> HttpResponse:
    """The answer 429 with the time to wait, in words and as Retry-After."""
    response = render(request, "429.html", {"message": error.detail}, status=429)
    response["Retry-After"], response["Cache-Control"] = str(error.seconds), "no-store"
    return response


class UnstorableInputMiddleware:
    """Answers 400 to input that no column can hold, whichever page or form it was sent to.

    Fields refuse it by name where they know it; this is for the texts and numbers that are only looked up.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, DataError):
            return None
        match error.__cause__:
            case NumericValueOutOfRange():
                said = TOO_LARGE
            case DatetimeFieldOverflow() | InvalidTimeZoneDisplacementValue():
                said = NO_MOMENT
            case _:
                said = NUL if "NUL" in str(error) else ""
        return HttpResponseBadRequest(said, content_type="text/plain") if said else None
