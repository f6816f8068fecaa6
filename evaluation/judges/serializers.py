"""JSON of judges: a request to judge, what that takes, single verdicts, and how far they agree with people."""

from rest_framework import serializers

from agents.models import Run
from agents.prompts.packs import PACKAGED
from annotations.access.requests import OwnRowField, RequestSerializer
from evaluation.judges import JUDGES
from evaluation.models import JudgeVerdict
from evaluation.reviews.serializers import EstimatedRateSerializer


class JudgingRequestSerializer(RequestSerializer):
    """Which judge says its verdict on which runs, whom it asks in which words, and what that may cost."""

    runs = OwnRowField(
        queryset=Run.objects.select_related("dataset__project"),
        many=True,
        allow_empty=False,
        help_text="Keys, all of one project.",
    )
    judge = serializers.ChoiceField(choices=list(JUDGES))
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


class JudgingForecastSerializer(serializers.Serializer):
    """What a judging would take; null: not known."""

    waiting = serializers.IntegerField(help_text="Trajectories without its verdict.")
    requests = serializers.IntegerField(help_text="At most, to a language model.")
    seconds = serializers.FloatField(allow_null=True, help_text="As earlier verdicts took.")
    cost = serializers.FloatField(allow_null=True, help_text="As earlier verdicts cost.")
    most_cost = serializers.FloatField(allow_null=True, help_text="Were every page as long as a judge reads.")


class JudgeVerdictSerializer(serializers.ModelSerializer):
    """What a judge says of a whole trajectory, beside what most people say."""

    run = serializers.IntegerField(source="trajectory.run_id", read_only=True)
    conversation = serializers.CharField(source="trajectory.conversation.source_id", read_only=True)
    people = serializers.BooleanField(
        read_only=True, allow_null=True, help_text="Whether most people call it right; null: nobody, or as many as not."
    )

    class Meta:
        model = JudgeVerdict
        fields = [
            *("id", "run", "trajectory", "conversation", "judge", "model", "pack", "success", "people", "said"),
            *("answers", "error", "prompt_tokens", "completion_tokens", "cost", "seconds", "judged_at"),
        ]


class JudgeKappaSerializer(serializers.Serializer):
    """Cohen's kappa with its 95 % interval, over conversations."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class JudgedRunSerializer(serializers.Serializer):
    """A judge on one run, or (`run` null) on all of them."""

    run = serializers.IntegerField(allow_null=True)
    rate = EstimatedRateSerializer(help_text="Of trajectories that it calls a success.")
    reviewed = serializers.IntegerField(help_text="By people as a whole.")
    kappa = JudgeKappaSerializer()
    sensitivity = EstimatedRateSerializer()
    specificity = EstimatedRateSerializer()
    corrected = EstimatedRateSerializer(allow_null=True)


class JudgeAgreementSerializer(serializers.Serializer):
    """A judge beside people."""

    judge = serializers.CharField()
    model = serializers.CharField()
    pack = serializers.CharField()
    unsaid = serializers.IntegerField()
    tokens = serializers.IntegerField()
    cost = serializers.FloatField()
    wanted = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True, help_text="Successes and failures to review, for 10 points."
    )
    more = serializers.IntegerField(
        allow_null=True, help_text="About how many more trajectories, drawn by chance, hold these."
    )
    rows = JudgedRunSerializer(many=True)
