"""What every request passes: who acts is known to the trail, who tries too often is told, a browser is remembered."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from annotations.access import throttle
from annotations.access.events import present


class AccessMiddleware:
    """Behind the one that finds the user."""

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
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A page; REST says it by itself."""
        return too_many_tries(request, error) if isinstance(error, throttle.TooManyTries) else None


def too_many_tries(request: HttpRequest, error: throttle.TooManyTries) -> HttpResponse:
    """429 with the time to wait, in words and as Retry-After."""
    response = render(request, "429.html", {"message": error.detail}, status=429)
    response["Retry-After"], response["Cache-Control"] = str(error.seconds), "no-store"
    return response
