"""Beginning to show how something is done, over the API."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from agents.environments.protocol import NoSuchTask
from agents.live.showing import LONGEST_GOAL, WHERE, ShownGoal
from agents.replay.serializers import TrajectorySerializer
from annotations.access import idempotency, rules
from annotations.access.api_rules import JobThrottle, StartsWork
from annotations.access.people import signed_in
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.forms import MOST
from annotations.models import Project
from evaluation.studies.taking_part.showing import Begun, show


class DemonstrationRequestSerializer(RequestSerializer):
    """What somebody wants to show, from the first page on."""

    project = OwnRelatedField(slug_field="slug", queryset=Project.objects.all(), help_text="Its slug.")
    environment = serializers.ChoiceField(choices=list(WHERE.items()))
    task = serializers.CharField(
        max_length=200, help_text="A task, a conversation, or a website, by name; of open-web an address."
    )
    seed = serializers.IntegerField(
        default=None, allow_null=True, min_value=0, max_value=MOST, help_text="Null: one by chance of a task, else 0."
    )
    words = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_GOAL,
        help_text="Of sample-sites-free and open-web: what is to be done.",
    )


class BeginsEpisode(StartsWork):
    """Answers with the episode that a person acts or talks in."""

    serializer_class = TrajectorySerializer
    throttle_classes = [JobThrottle]

    def answer(self, begun: Begun) -> Response:
        """201, or 200 for one of theirs that was under way."""
        location = reverse("api:trajectory-detail", [begun.trajectory.pk], request=self.request)
        data = self.get_serializer(begun.trajectory).data
        code = status.HTTP_201_CREATED if begun.is_new else status.HTTP_200_OK
        return Response(data, status=code, headers={"Location": location})


class DemonstrationViewSet(BeginsEpisode):
    """Show how something is done."""

    @extend_schema(
        request=DemonstrationRequestSerializer,
        responses={201: TrajectorySerializer, 200: TrajectorySerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Begin an episode without an agent, in which whoever asks for it acts: in its replay, as soon as a worker has
        opened the page. What reaches its goal is kept as a demonstration.

        200: one of theirs in the project is not over, and is answered in its place."""
        if not rules.projects(request.user, "review").exists():
            raise PermissionDenied("This needs a role that may review; ask an admin of your project.")
        wanted = DemonstrationRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        values = dict(wanted.validated_data)
        project = values.pop("project")
        rules.require(request.user, "review", project)

        def work() -> Response:
            try:
                begun = show(signed_in(request), project, ShownGoal(**values))
            except (ValueError, NoSuchTask) as error:
                raise ValidationError({"detail": str(error)}) from error
            return self.answer(begun)

        return idempotency.once(request, work)
