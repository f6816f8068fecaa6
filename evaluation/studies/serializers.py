"""JSON of studies, shards and scores."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.models import Run
from agents.recipes import literature
from annotations.access.requests import RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.hosts.identity import shown
from annotations.jobs.serializers import MOST, OwnRelatedField
from annotations.models import Dataset, Split
from evaluation.metrics.apart import caution
from evaluation.models import Score, Shard, Study
from evaluation.studies.findings import ScannerFinding


class StudyRunSerializer(serializers.ModelSerializer):
    class Meta:
        model = Run
        fields = ["id", "recipe_name", "dataset", "split", "seed", "state", "step_count"]


class StudySerializer(serializers.ModelSerializer):
    created_by = UsernameField(source="created_by.username", default=None, read_only=True)
    runs = StudyRunSerializer(many=True, read_only=True)

    class Meta:
        model = Study
        fields = [
            *("id", "project", "name", "preset", "runs", "cancel_requested", "created_by", "created_at"),
            *("budget_tokens", "budget_cost", "budget_seconds", "spent_tokens", "spent_cost", "spent_seconds"),
        ]


class BudgetSerializer(RequestSerializer):
    """Hard limits on what model calls may use; null: none."""

    tokens = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    cost = serializers.FloatField(min_value=0, required=False, allow_null=True, default=None)
    seconds = serializers.IntegerField(min_value=1, max_value=MOST, required=False, allow_null=True, default=None)


@extend_schema_field(literature.overrides_schema())
class OverridesField(serializers.DictField):
    """Settings by dotted name, values as text."""


class StudyRequestSerializer(RequestSerializer):
    """What to evaluate: recipes × splits × seeds on one dataset."""

    dataset = OwnRelatedField(slug_field="name", queryset=Dataset.objects.all(), help_text="Its name.")
    recipes = serializers.ListField(child=serializers.CharField(), allow_empty=False, max_length=20)
    splits = serializers.ListField(
        child=serializers.ChoiceField(choices=Split.choices, allow_blank=True),
        default=[""],
        allow_empty=False,
        max_length=20,
        help_text='"" is every split.',
    )
    seeds = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=MOST), default=[0], allow_empty=False, max_length=20
    )
    limit = serializers.IntegerField(min_value=1, max_value=MOST, required=False, allow_null=True, default=None)
    websites = serializers.ListField(
        child=serializers.CharField(max_length=200),
        default=list,
        max_length=200,
        help_text="Names of websites: conversations on others are left out. Empty: all.",
    )
    overrides = OverridesField(
        child=serializers.CharField(), default=dict, help_text='Settings to change, such as {"rank.top_k": "20"}.'
    )
    preset = serializers.ChoiceField(choices=Study.Preset.choices, required=False, allow_null=True, default=None)
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    budget = BudgetSerializer(required=False, allow_null=True, default=None)


class ShardSerializer(serializers.ModelSerializer):
    worker = serializers.SerializerMethodField(help_text="Host and number of the process that works on it.")
    last_error = serializers.SerializerMethodField(help_text="Hidden where it may quote hidden gold.")

    class Meta:
        model = Shard
        fields = [
            *("id", "run", "index", "conversation_ids", "step_count", "state", "attempt", "worker", "heartbeat_at"),
            *("last_error", "error_id", "created_at", "finished_at"),
        ]

    def get_worker(self, shard: Shard) -> str:
        return shown(shard.lease_owner)

    def get_last_error(self, shard: Shard) -> str:
        return self.context["rights"].message(shard.last_error, shard.run.dataset.project_id, shard.run.split)


class ScoreSerializer(serializers.ModelSerializer):
    caution = serializers.SerializerMethodField(
        help_text="Where its interval rests on too few conversations; else empty."
    )

    class Meta:
        model = Score
        fields = ["id", "run", "preset", "metric", "grouping", "headline", "value", "low", "high", "n", "caution"]

    def get_caution(self, score: Score) -> str:
        return caution(getattr(score, "conversations", None), score.low == score.high)


class MetricSerializer(serializers.Serializer):
    """One line of a metrics table; fractions 0..1 with the 95 % interval, and what the mean is taken over."""

    run = serializers.IntegerField()
    recipe = serializers.CharField()
    settings = serializers.CharField(help_text="Those that differ from the named recipe.")
    dataset = serializers.CharField()
    split = serializers.CharField(help_text="Empty: every split.")
    seed = serializers.IntegerField()
    preset = serializers.CharField()
    metric = serializers.CharField()
    grouping = serializers.CharField()
    headline = serializers.BooleanField()
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()
    caution = serializers.CharField(help_text="Where its interval rests on too few conversations; else empty.")


class EstimatedRateSerializer(serializers.Serializer):
    """A share with its 95 % interval, and the number of steps it is of."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()


class ScannerFindingSerializer(serializers.Serializer):
    """What a scanner found in a run; precision and recall are null until people judged such steps."""

    scanner = serializers.CharField(source="key")
    name = serializers.CharField(source="label")
    count = serializers.SerializerMethodField()
    steps = serializers.DictField(
        source="seen", child=serializers.CharField(), help_text="Step of a trajectory -> what it saw."
    )
    precision = EstimatedRateSerializer(source="validation.precision", allow_null=True)
    recall = EstimatedRateSerializer(source="validation.recall", allow_null=True)

    def get_count(self, finding: ScannerFinding) -> int:
        return len(finding.seen)
