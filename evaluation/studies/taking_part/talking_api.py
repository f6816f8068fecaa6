"""Beginning to talk with an agent, over the API."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.live.showing import LONGEST_GOAL
from agents.replay.serializers import TrajectorySerializer
from annotations.access import idempotency, rules
from annotations.access.people import signed_in
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.models import Project
from evaluation.studies.taking_part.showing_api import BeginsEpisode
from evaluation.studies.taking_part.talked_agent import TalkedAgent
from evaluation.studies.taking_part.talking import talk


class TypedConversationRequestSerializer(RequestSerializer):
    """Who is talked with, where, and what is said first."""

    project = OwnRelatedField(slug_field="slug", queryset=Project.objects.all(), help_text="Its slug.")
    recipe = serializers.CharField(default="grounded", max_length=100)
    website = serializers.CharField(max_length=200, help_text="Of the sample, by name.")
    words = serializers.CharField(max_length=LONGEST_GOAL, help_text="What the agent is to do first.")
    model = serializers.CharField(
        default=None,
        allow_null=True,
        allow_blank=True,
        max_length=100,
        help_text="A trained planner by name; null: the best guess of those that go with the recipe; empty: as it is.",
    )
    asks = serializers.BooleanField(
        default=None, allow_null=True, help_text="It asks where two readings are close; null: as the recipe says."
    )
    holds = serializers.BooleanField(
        default=None, allow_null=True, help_text="What is risky waits for a person; null: as the recipe says."
    )


class TypedConversationViewSet(BeginsEpisode):
    """Talk with an agent."""

    @extend_schema(
        request=TypedConversationRequestSerializer,
        responses={201: TrajectorySerializer, 200: TrajectorySerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Begin a conversation with an agent on a sample website. In its replay whoever began it says what is next, as
        soon as the agent has done, and answers what it asks.

        200: one of theirs in the project is not over, and is answered in its place."""
        if not rules.projects(request.user, "evaluate").exists():
            raise PermissionDenied("This needs a role that may evaluate; ask an admin of your project.")
        wanted = TypedConversationRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        rules.require(request.user, "evaluate", wanted.validated_data["project"])

        values = dict(wanted.validated_data)
        agent = TalkedAgent(**{name: values.pop(name) for name in ("model", "asks", "holds")})

        def work() -> Response:
            try:
                begun = talk(signed_in(request), **values, agent=agent)
            except ValueError as error:
                raise ValidationError({"detail": str(error)}) from error
            return self.answer(begun)

        return idempotency.once(request, work)
