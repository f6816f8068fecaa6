"""Live goals over the API."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.environments.task_sets import TASKS
from agents.live.chosen_users import MOST_TEMPERATURE, TEMPERATURE, WORDS, ChosenUser
from agents.live.goals import MOST_SECONDS, MOST_STEPS, SECONDS
from agents.live.jobs import MOST_EPISODES
from agents.prompts.packs import PACKAGED
from annotations.access import idempotency
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.forms import MOST
from annotations.jobs.api import StartsJob
from annotations.jobs.serializers import JobDetailSerializer
from annotations.models import Job, Project, Split


class LiveUserSerializer(RequestSerializer):
    """The language model that is the user of live conversations."""

    connection = serializers.CharField(
        max_length=60, help_text="To a language model, by name; or the embedded model, embedded:smollm2-135m."
    )
    words = serializers.ChoiceField(
        choices=list(WORDS), default="own", help_text="own: it says instructions in its own words; written: as written."
    )
    temperature = serializers.FloatField(default=TEMPERATURE, min_value=0, max_value=MOST_TEMPERATURE)
    pack = serializers.CharField(default=PACKAGED, max_length=120, help_text="A prompt pack of the project.")
    max_cost = serializers.FloatField(
        allow_null=True, default=None, min_value=0, help_text="In money, of one run: it stops before it costs more."
    )


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
    user = LiveUserSerializer(
        source="talker",
        allow_null=True,
        default=None,
        help_text="Of conversations; null: scripted, as environments bring it.",
    )


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

        asked = values.pop("talker")
        return start_goals(**values, talker=ChosenUser(**asked) if asked else None)
