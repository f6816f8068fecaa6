"""Live goals over the API."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.environments.task_sets import TASKS
from agents.live.goals import MOST_SECONDS, MOST_STEPS, SECONDS
from agents.live.jobs import MOST_EPISODES
from annotations.access import idempotency
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.forms import MOST
from annotations.jobs.api import StartsJob
from annotations.jobs.serializers import JobDetailSerializer
from annotations.models import Job, Project, Split


class LiveGoalsRequestSerializer(RequestSerializer):
    """Which goals to make: tasks of an environment with so many seeds each."""

    project = OwnRelatedField(slug_field="slug", queryset=Project.objects.all(), help_text="Its slug.")
    name = serializers.CharField(help_text="Of the dataset: a new one, or live goals to add to.")
    environment = serializers.CharField(help_text=f"{', '.join(TASKS)}.")
    tasks = serializers.ListField(
        child=serializers.CharField(),
        default=["all"],
        help_text="all, the name of a set, or tasks by name; of open-web addresses, each with what is to be done.",
    )
    episodes = serializers.IntegerField(default=5, min_value=1, max_value=MOST_EPISODES, help_text="Of each task.")
    first_seed = serializers.IntegerField(default=0, min_value=0, max_value=MOST)
    split = serializers.CharField(default=Split.DEV.value)
    steps = serializers.IntegerField(
        default=0, min_value=0, max_value=MOST_STEPS, help_text="Of an episode; 0: as many as suit the environment."
    )
    seconds = serializers.IntegerField(default=SECONDS, min_value=1, max_value=MOST_SECONDS, help_text="Of an episode.")


class LiveGoalsViewSet(StartsJob):
    """Make live goals."""

    serializer_class = LiveGoalsRequestSerializer
    ability = Job.Kind.GOALS.value

    @extend_schema(responses={202: JobDetailSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Make goals that agents reach by acting, as a background job. Studies are started on the dataset as on any."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from agents.live.jobs import start_goals

        return start_goals(**values)
