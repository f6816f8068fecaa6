"""JSON of studies, shards and scores."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.models import Run
from agents.recipes.schemas import overrides_schema
from agents.runs.api import RunDetailSerializer
from agents.training.mismatches import unlike_training
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.forms import MOST, MOST_BIG
from annotations.hosts.identity import shown
from annotations.models import Dataset, Split
from evaluation.metrics.apart import caution
from evaluation.models import Score, Shard, Study
from evaluation.reviews.serializers import EstimatedRateSerializer
from evaluation.studies.findings import ScannerFinding


class StudyRunSerializer(serializers.ModelSerializer):
    class Meta:
        model = Run
        fields = ["id", "recipe_name", "dataset", "split", "seed", "state", "step_count"]


class ScoredRunSerializer(RunDetailSerializer):
    unlike_training = serializers.SerializerMethodField(
        help_text="A sentence for each model that the recipe gives other inputs than it was trained on."
    )

    class Meta(RunDetailSerializer.Meta):
        fields = [*RunDetailSerializer.Meta.fields, "unlike_training"]

    def get_unlike_training(self, run: Run) -> list[str]:
        return unlike_training(run.recipe, run.dataset.project_id)


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

    tokens = serializers.IntegerField(min_value=1, max_value=MOST_BIG, required=False, allow_null=True, default=None)
    cost = serializers.FloatField(min_value=0, required=False, allow_null=True, default=None)
    seconds = serializers.IntegerField(min_value=1, max_value=MOST, required=False, allow_null=True, default=None)


@extend_schema_field(overrides_schema())
class OverridesField(serializers.DictField):
    """Settings by dotted name; values are texts."""


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
        child=serializers.CharField(), default=dict, help_text='Settings to change, such as {"recall.k": "5"}.'
    )
    preset = serializers.ChoiceField(choices=Study.Preset.choices, required=False, allow_null=True, default=None)
    connection = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Answers the recipes that ask a language model: a connection. Empty: as each recipe says.",
    )
    encoder = serializers.CharField(
        max_length=60,
        default="",
        allow_blank=True,
        help_text="Embeds for the recipes that recall: a connection of kind embedding. Empty: as each recipe says.",
    )
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    budget = BudgetSerializer(required=False, allow_null=True, default=None)


class RecipeForecastSerializer(serializers.Serializer):
    recipe = serializers.CharField()
    seconds = serializers.FloatField(allow_null=True, help_text="null: not known.")
    most = serializers.FloatField(
        allow_null=True, help_text="Seconds at most, where `seconds` are those at least: told by other recipes."
    )
    loading = serializers.FloatField(
        allow_null=True, help_text="Seconds of these to load models and embed what is recalled. null: not known."
    )
    cost = serializers.FloatField(allow_null=True, help_text="Of model calls, in the currency of the prices.")
    because = serializers.CharField(help_text="What is not known, or why it cannot run; else empty.")
    differs = serializers.ListField(
        child=serializers.CharField(), help_text="Settings that earlier runs had otherwise."
    )
    kin = serializers.CharField(help_text="The recipe by whose runs this is told, where its own has not run.")


class UserShareSerializer(serializers.Serializer):
    connection = serializers.CharField(help_text="To the language model that is the user of live conversations.")
    cost = serializers.FloatField(allow_null=True, help_text="Of its calls. null: not known, and not in the whole.")
    because = serializers.CharField(help_text="Why that is not known; else empty.")
    unheard = serializers.ListField(
        child=serializers.CharField(), help_text="Recipes whose seconds are without waiting for it."
    )


class ForecastSerializer(serializers.Serializer):
    """The forecast of a study."""

    runs = serializers.IntegerField()
    steps = serializers.IntegerField(help_text="Of live goals episodes.")
    unit = serializers.CharField()
    seconds = serializers.FloatField(help_text="On one worker, of the recipes of which it is known.")
    most_seconds = serializers.FloatField(
        help_text="More than `seconds` where recipes have not run here: these are then those at least."
    )
    loading = serializers.FloatField(
        allow_null=True, help_text="Seconds of these to load models and embed what is recalled. null: not known."
    )
    cost = serializers.FloatField(help_text="Of the recipes, and of the user, of which it is known.")
    user = UserShareSerializer(allow_null=True, help_text="null: it is no language model.")
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="Recipes whose time is not known: `seconds` is without them."
    )
    waiting = serializers.IntegerField(help_text="Runs of other studies that come before it.")
    waiting_jobs = serializers.IntegerField(
        source="ahead.jobs", help_text="Trainings and other jobs that come before it at the worker."
    )
    waiting_seconds = serializers.FloatField(
        source="ahead.seconds", help_text="Until its turn, of the runs and jobs of which it is known."
    )
    recipes = RecipeForecastSerializer(many=True)
    sentences = serializers.ListField(child=serializers.CharField(), help_text="As the form says it.")


class PlotPointSerializer(serializers.Serializer):
    split = serializers.CharField(help_text="Empty: every split.")
    recipe = serializers.CharField()
    x = serializers.CharField()
    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(allow_null=True)


class PlotSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    x_name = serializers.CharField()
    points = PlotPointSerializer(many=True)


class FailureReasonSerializer(serializers.Serializer):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field may have the name of a field's option
    count = serializers.IntegerField()


class FailedStepSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    trajectory = serializers.IntegerField(source="trajectory_id")
    seq = serializers.IntegerField()
    website = serializers.CharField(source="trajectory.conversation.website.name")
    representation = serializers.CharField(allow_null=True, help_text="What the agent did.")
    error = serializers.CharField()


class FailuresSerializer(serializers.Serializer):
    """Where a run fails: counts by reason, and the first failed steps."""

    reasons = FailureReasonSerializer(many=True)
    steps = FailedStepSerializer(many=True, help_text="The first 200, in the order of the conversations.")


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


class ScannerFindingSerializer(serializers.Serializer):
    """What a scanner found in a run; precision and recall are null until people judged such steps."""

    scanner = serializers.CharField()
    name = serializers.CharField(source="label")
    model = serializers.CharField(help_text="The language model that it asked; empty: none.")
    pack = serializers.CharField(help_text="In the words of which prompt pack.")
    count = serializers.SerializerMethodField()
    steps = serializers.DictField(
        source="seen", child=serializers.CharField(), help_text="Step of a trajectory -> what it saw."
    )
    precision = EstimatedRateSerializer(source="validation.precision", allow_null=True)
    recall = EstimatedRateSerializer(source="validation.recall", allow_null=True)

    def get_count(self, finding: ScannerFinding) -> int:
        return len(finding.seen)
