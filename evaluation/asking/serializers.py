"""JSON of what has something asked of runs: what every request says, and what that takes."""

from rest_framework import serializers

from agents.models import Run
from agents.prompts.packs import PACKAGED
from annotations.access.requests import OwnRowField, RequestSerializer


class AskingRequestSerializer(RequestSerializer):
    """Of which runs is asked, whom in which words, and what that may cost."""

    runs = OwnRowField(
        queryset=Run.objects.select_related("dataset__project"),
        many=True,
        allow_empty=False,
        help_text="Keys, all of one project.",
    )
    connection = serializers.CharField(
        default="", allow_blank=True, max_length=60, help_text="To a language model, by name; empty: what answers here."
    )
    pack = serializers.CharField(default=PACKAGED, max_length=120, help_text="A prompt pack of the project.")
    max_cost = serializers.FloatField(
        allow_null=True, default=None, min_value=0, help_text="In money: it stops before it costs more."
    )

    def validate_runs(self, runs: list[Run]) -> list[Run]:
        if len({run.dataset.project_id for run in runs}) > 1:
            raise serializers.ValidationError("Choose runs of one project.")
        return runs


class AskingForecastSerializer(serializers.Serializer):
    """What that would take; null: not known."""

    waiting = serializers.IntegerField(help_text="What has no answer yet: trajectories of a judge, steps of a scanner.")
    requests = serializers.IntegerField(help_text="At most, to a language model.")
    seconds = serializers.FloatField(allow_null=True, help_text="As earlier answers took.")
    cost = serializers.FloatField(allow_null=True, help_text="As earlier answers cost.")
    most_cost = serializers.FloatField(allow_null=True, help_text="Were every page as long as it reads.")
