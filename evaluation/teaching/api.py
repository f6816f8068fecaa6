"""What people taught of a dataset over REST."""

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import rules
from annotations.access.api_rules import VisibleMixin
from annotations.access.downloads import stream_rows
from annotations.access.requests import RequestSerializer
from annotations.models import Dataset, Scope
from evaluation.teaching.collecting import Teaching
from evaluation.teaching.records import FORMS, LessonLines, count


class LessonCountsSerializer(serializers.Serializer):
    """How much verdicts and corrections teach of a train split."""

    steps = serializers.IntegerField(help_text="Of which something is taught.")
    corrected = serializers.IntegerField(help_text="Whose gold was corrected.")
    accepted = serializers.IntegerField(help_text="Actions that are right besides gold.")
    refused = serializers.IntegerField(help_text="Actions of agents that are wrong.")
    left_out = serializers.IntegerField(help_text="Steps whose gold or page is called wrong: nothing is learnt there.")
    reworded = serializers.IntegerField(
        help_text="Verdicts left out, as the agent acted by words of the turn that were corrected since."
    )


class FormOfLessonsSerializer(RequestSerializer):
    """What lessons are wanted as."""

    form = serializers.ChoiceField(choices=list(FORMS), default="sft")


class LessonsOfDatasetViewSet(VisibleMixin, viewsets.GenericViewSet):
    """What people taught of the train split of a dataset."""

    scopes = {"file": Scope.EXPORT}
    queryset = Dataset.objects.all()
    serializer_class = LessonCountsSerializer
    pagination_class = None
    filter_backends = ()

    @extend_schema(operation_id="datasets_lessons_retrieve", responses=LessonCountsSerializer)
    def lessons(self, request: Request, pk: int) -> Response:
        """How many steps, and what is taught of them."""
        dataset = get_object_or_404(self.get_queryset(), pk=pk)
        return Response(LessonCountsSerializer(count(Teaching(dataset).counted())).data)

    @extend_schema(
        operation_id="datasets_lessons_file",
        parameters=[FormOfLessonsSerializer],
        responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY},
    )
    def file(self, request: Request, pk: int) -> HttpResponseBase:
        """Lines to train on: demonstrations (`sft`), pairs of a better and a worse answer (`dpo`), answers that are
        right or wrong (`process`), as TRL reads them."""
        dataset = get_object_or_404(self.get_queryset().select_related("project"), pk=pk)
        rules.require(request.user, "export", dataset.project)
        asked = FormOfLessonsSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        form = asked.validated_data["form"]
        return stream_rows(
            "jsonl", FORMS[form](LessonLines(dataset)), (), f"{dataset.name}-lessons-{form}", dataset.project
        )
