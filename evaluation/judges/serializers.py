"""JSON of judges: a request to judge, single verdicts, and how far they agree with people."""

from rest_framework import serializers

from evaluation.asking.serializers import AskingRequestSerializer
from evaluation.judges import JUDGES
from evaluation.models import JudgeVerdict
from evaluation.reviews.serializers import EstimatedRateSerializer


class JudgingRequestSerializer(AskingRequestSerializer):
    """Which judge says its verdict on which runs, whom it asks in which words, and what that may cost."""

    judge = serializers.ChoiceField(choices=list(JUDGES))


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
