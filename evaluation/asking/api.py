"""Over REST: something is asked of runs, once what that takes was foretold."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import rules
from annotations.access.api_rules import ForecastThrottle
from annotations.jobs.api import StartsJob
from annotations.models import Project
from evaluation.asking.of_runs import AskingOfRuns
from evaluation.asking.serializers import AskingForecastSerializer


class StartsAsking(StartsJob):
    """Starts the job of an asker; a viewset derives from it for each kind."""

    def opened(self, project: Project, asked: Mapping[str, Any]) -> AskingOfRuns[Any]:
        """The asker that a request names. ValueError says what it lacks."""
        raise NotImplementedError

    @extend_schema(responses=AskingForecastSerializer)
    @action(detail=False, methods=["post"], pagination_class=None, throttle_classes=[ForecastThrottle])
    def forecast(self, request: Request) -> Response:
        """What it would take: pieces without an answer, requests, seconds and money. Starts nothing."""
        from evaluation.asking.expecting import AskingForecast

        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        project = asked["runs"][0].dataset.project
        rules.require(request.user, self.ability, project)
        try:
            opened = self.opened(project, asked)
        except ValueError as error:
            raise ValidationError({"detail": str(error)}) from error
        found = AskingForecast.of(opened, asked["runs"], asked["connection"])
        return Response(AskingForecastSerializer(found).data)
