"""JSON of compared runs."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluation.comparing.steps import SLICED_BY
from evaluation.models import ReviewedRun


class ComparedRunSerializer(serializers.Serializer):
    letter = serializers.CharField()
    id = serializers.IntegerField(source="run.pk")
    recipe_name = serializers.CharField(source="run.recipe_name")
    split = serializers.CharField(source="run.split", help_text="Empty: every split.")
    seed = serializers.IntegerField(source="run.seed")
    settings = serializers.SerializerMethodField(help_text="In which its recipe differs from the usual, as text.")

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_settings(self, row: dict[str, Any]) -> dict[str, str]:
        return {name: str(now) for name, (_, now) in row["settings"].items()}


class PairedDifferenceSerializer(serializers.Serializer):
    """Step success less that of the first run, over the steps that all decided; 95 % interval drawn by conversation.
    Where one of the runs only ranks, right elements in place of right steps."""

    letter = serializers.CharField()
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    only_first = serializers.IntegerField(help_text="Steps at which only the first is right.")
    only_this = serializers.IntegerField(help_text="Steps at which only this one is right.")
    steps = serializers.IntegerField()
    conversations = serializers.IntegerField()
    caution = serializers.CharField(help_text="Where the interval rests on too few conversations; else empty.")


class DifferenceSliceSerializer(serializers.Serializer):
    """The paired difference on a part of the steps."""

    kind = serializers.ChoiceField(choices=list(SLICED_BY.items()))
    name = serializers.CharField()
    paired = PairedDifferenceSerializer()
    right_first = serializers.IntegerField(help_text="Steps at which the first run is right.")
    right_this = serializers.IntegerField(help_text="Steps at which this one is right.")


class ConversationDifferenceSerializer(serializers.Serializer):
    conversation = serializers.IntegerField()
    steps = serializers.IntegerField()
    right = serializers.ListField(child=serializers.IntegerField(), help_text="Steps right, by run.")
    differing = serializers.IntegerField(help_text="Places that they decide differently.")
    splitting = serializers.IntegerField(help_text="Places where some are right and some are wrong.")


class JudgedOtherwiseSerializer(serializers.ModelSerializer):
    """In how many steps of a run reviews and corrections judge otherwise than the numbers of the comparison."""

    class Meta:
        model = ReviewedRun
        fields = ("run", "accepted", "left_out", "corrected")


class ComparisonSerializer(serializers.Serializer):
    """Two to four runs on one dataset. All numbers are by the gold of the run, as it was when the run decided. What
    would tell gold of test splits is empty for those who may not see it."""

    runs = ComparedRunSerializer(many=True)
    gold = serializers.BooleanField(help_text="Whether the user may see which steps are right.")
    reviewed = JudgedOtherwiseSerializer(
        many=True, help_text="Runs that reviews and corrections since then judge otherwise; empty without gold."
    )
    differences = PairedDifferenceSerializer(many=True)
    slices = DifferenceSliceSerializer(
        many=True,
        help_text="By website and by operation of gold, at most 20 of each: first those with most steps at which some "
        "are right and some wrong.",
    )
    conversations = ConversationDifferenceSerializer(
        many=True, help_text="The first 200: those with the most splitting places, then those that differ most."
    )
