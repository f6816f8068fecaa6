"""Judges over REST: a judging is started and foretold, verdicts and agreement are read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import ReadOnlyViewSet, VisibleMixin
from annotations.jobs.serializers import JobDetailSerializer
from annotations.models import Job, Project
from evaluation.asking.api import StartsAsking
from evaluation.judges import serializers
from evaluation.judges.agreeing import as_json, told_agreements
from evaluation.judges.filters import JudgeVerdictFilter
from evaluation.models import JudgeVerdict, Study
from evaluation.models.judges import JudgeVerdictQuerySet

if TYPE_CHECKING:
    from evaluation.judges.judging import Judging


class JudgingViewSet(StartsAsking):
    """Let a judge say its verdict on runs."""

    serializer_class = serializers.JudgingRequestSerializer
    ability = Job.Kind.JUDGE.value

    @extend_schema(responses={202: JobDetailSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Let a judge say of each trajectory of runs whether its task was done, as a background job. Verdicts are
        stored as they come; started again, it asks only of what has none."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from evaluation.judges.judging import Judging

        return Judging.start(values.pop("judge"), **values)

    def opened(self, project: Project, asked: Mapping[str, Any]) -> "Judging":
        from evaluation.judges.judging import Judging

        return Judging(asked["judge"], project, connection=asked["connection"], pack=asked["pack"])


class JudgeVerdictViewSet(ReadOnlyViewSet):
    """What judges say of whole trajectories as they are now."""

    queryset = JudgeVerdict.objects.all()
    serializer_class = serializers.JudgeVerdictSerializer
    filterset_class = JudgeVerdictFilter
    gold_split = "trajectory__conversation__split"
    gold_project = "trajectory__run__dataset__project"

    def get_queryset(self) -> QuerySet[JudgeVerdict]:
        rows = super().get_queryset()
        assert isinstance(rows, JudgeVerdictQuerySet)
        return rows.fresh().with_people().select_related("trajectory__conversation").order_by("id")


class JudgesOfStudyViewSet(VisibleMixin, viewsets.GenericViewSet):
    """The judges of a study."""

    queryset = Study.objects.all()
    serializer_class = serializers.JudgeAgreementSerializer
    pagination_class = None
    filter_backends = ()

    @extend_schema(
        operation_id="studies_judges_list", responses=serializers.JudgeAgreementSerializer(many=True), filters=False
    )
    def judges(self, request: Request, pk: int) -> Response:
        """How far each judge agrees with people, and each run's rate corrected for its errors; runs whose gold is
        hidden from you are left out."""
        study = get_object_or_404(self.get_queryset(), pk=pk)
        runs = list(study.runs.select_related("dataset").order_by("pk"))
        return Response([as_json(one) for one in told_agreements(rules.rights_of(request), runs)])
