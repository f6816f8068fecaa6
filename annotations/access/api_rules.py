"""How API views ask `rules.py`: rows that exist for the user, gold that may be shown, abilities.

Views check abilities with `rules.require` where work starts; everything else is reading, narrowed by `VisibleMixin`.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from rest_framework import status, throttling, viewsets
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from annotations.access import rules
from annotations.access.idempotency import REPLAYED


class VisibleMixin(viewsets.GenericViewSet):
    """Shows the rows of the user's projects only: lists leave others out, and details of them answer 404.

    A view whose rows say what the gold action is names the way to the split in `gold_split` (and to the project in
    `gold_project`): rows of test splits are left out for those who may not see their gold.
    """

    gold_split = ""
    gold_project = ""

    def get_queryset(self) -> QuerySet:
        rows = rules.visible(self.request.user, super().get_queryset())
        if self.gold_split:
            rows = rules.gold_filter(self.request.user, rows, self.gold_split, self.gold_project)
        return rows

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "rights": rules.rights_of(self.request)}


class ReadOnlyViewSet(VisibleMixin, viewsets.ReadOnlyModelViewSet):
    """List and detail of what the user may see."""


class AnyAccept(DefaultContentNegotiation):
    """Content negotiation of downloads: they have one type, whatever types the client says that it accepts."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        first = next(iter(renderers))
        return first, first.media_type


class JobThrottle(throttling.UserRateThrottle):
    """Limits per user how many requests start work; reading is not limited."""

    scope = "jobs"
    duration: int  # seconds, read from the rate

    def allow_request(self, request: Request, view: Any) -> bool:
        return request.method != "POST" or super().allow_request(request, view)

    def give_back(self) -> None:
        """Forget the request that was counted last: it has started nothing."""
        if getattr(self, "history", None):
            counted = self.cache.get(self.key, [])
            self.cache.set(self.key, [moment for moment in counted if moment != self.now], self.duration)


class ForecastThrottle(throttling.UserRateThrottle):
    """Limits per user how many forecasts are asked for: they start nothing, but read much."""

    scope = "forecasts"


class StartsWork(viewsets.GenericViewSet):
    """Requests that start work are counted. Those that are refused, and those that are answered as before, are given
    back: a mistake costs no start, and neither does asking again after an answer was lost."""

    def get_throttles(self) -> list[Any]:
        self.throttles = super().get_throttles()
        return self.throttles

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        refused = 400 <= response.status_code < 500 and response.status_code != status.HTTP_429_TOO_MANY_REQUESTS
        if refused or response.headers.get(REPLAYED):
            for throttle in getattr(self, "throttles", []):
                if isinstance(throttle, JobThrottle):
                    throttle.give_back()
        return super().finalize_response(request, response, *args, **kwargs)
