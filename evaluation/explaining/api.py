"""Explanations of failures over REST; what comes of them stands among the findings of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency
from annotations.jobs.serializers import JobDetailSerializer
from annotations.models import Job, Project
from evaluation.asking.api import StartsAsking
from evaluation.asking.serializers import AskingRequestSerializer
from evaluation.scanners.asking import ASKING

if TYPE_CHECKING:
    from evaluation.explaining.explaining import Explaining


class ExplainingRequestSerializer(AskingRequestSerializer):
    """Which scanner looks at the failed steps of which runs, whom it asks in which words, and what that may cost."""

    scanner = serializers.ChoiceField(choices=list(ASKING))


class ExplainingViewSet(StartsAsking):
    """Have a language model say why steps failed."""

    serializer_class = ExplainingRequestSerializer
    ability = Job.Kind.EXPLAIN.value

    @extend_schema(responses={202: JobDetailSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Have a scanner ask a language model of each failed step of runs which reason explains it, as a background
        job. Answers are stored as they come; started again, it asks only of what has none."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from evaluation.explaining.explaining import Explaining

        return Explaining.start(values.pop("scanner"), **values)

    def opened(self, project: Project, asked: Mapping[str, Any]) -> "Explaining":
        from evaluation.explaining.explaining import Explaining

        return Explaining(asked["scanner"], project, connection=asked["connection"], pack=asked["pack"])
