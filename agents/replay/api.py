"""Endpoints of trajectories, which only read."""

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import StepPicture, Trajectory, TrajectoryStep
from agents.replay import rows as replay_rows
from agents.replay.serializers import StepResultDetailSerializer, TrajectorySerializer, TrajectoryStepsSerializer
from annotations.access import rules
from annotations.access.api_rules import AnyAccept, ReadOnlyViewSet
from annotations.corpus.api import SHA256, image_answer
from annotations.models import Screenshot
from annotations.text.amounts import whole


class TrajectoryFilter(filters.FilterSet):
    run = filters.NumberFilter()
    conversation = filters.NumberFilter()
    dataset = filters.NumberFilter(field_name="run__dataset")
    updated_after = filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gt")

    class Meta:
        model = Trajectory
        fields = ["state"]


class TrajectoryViewSet(ReadOnlyViewSet):
    """An agent's steps in one conversation; the replay page reads `steps`."""

    queryset = Trajectory.objects.select_related("conversation", "run__dataset")
    serializer_class = TrajectorySerializer
    filterset_class = TrajectoryFilter

    def _shows_gold(self, trajectory: Trajectory) -> bool:
        project_id, split = trajectory.run.dataset.project_id, trajectory.conversation.split
        return rules.rights_of(self.request).sees_gold(project_id, split)

    @extend_schema(
        responses=TrajectoryStepsSerializer,
        parameters=[OpenApiParameter("after", int, description="Only steps with a greater sequence number.")],
    )
    @action(detail=True)
    def steps(self, request: Request, pk: str) -> Response:
        """The decided steps in order, without traces. A live viewer asks again with the last `seq` it has."""
        trajectory = self.get_object()
        after = _number(request.query_params.get("after", "-1"))
        gold = self._shows_gold(trajectory)
        steps = replay_rows.rows(trajectory, gold=gold, after=after)
        return Response(replay_rows.progress(trajectory, steps, gold=gold))

    @extend_schema(operation_id="trajectories_step_retrieve", responses=StepResultDetailSerializer)
    @action(detail=True, url_path=r"steps/(?P<seq>\d{1,9})", url_name="step")
    def step(self, request: Request, pk: str, seq: str) -> Response:
        """One decided step with everything that its stages recorded."""
        trajectory = self.get_object()
        try:
            return Response(replay_rows.detail(trajectory, int(seq), gold=self._shows_gold(trajectory)))
        except TrajectoryStep.DoesNotExist as error:
            raise Http404 from error

    @extend_schema(operation_id="trajectories_screenshot_retrieve", responses={(200, "image/*"): OpenApiTypes.BINARY})
    @action(
        detail=True,
        url_path=rf"screenshots/(?P<sha256>{SHA256})/image",
        url_name="screenshot",
        content_negotiation_class=AnyAccept,
    )
    def screenshot(self, request: Request, pk: str, sha256: str) -> HttpResponseBase:
        """The screenshot of a step of a live episode, as an attachment; those of recorded steps are `screenshots`."""
        trajectory = self.get_object()
        if not self._shows_gold(trajectory):
            raise Http404
        shown = StepPicture.objects.of(trajectory).values("screenshot")
        shot = get_object_or_404(Screenshot, sha256=sha256, pk__in=shown)
        return image_answer(sha256, shot.media_type, bytes(shot.data))


def _number(text: str) -> int:
    """A sequence number from a query string."""
    number = whole(text.removeprefix("-"))
    if number is None:
        raise ValidationError({"after": ["Give a sequence number."]})
    return -number if text.startswith("-") else number
