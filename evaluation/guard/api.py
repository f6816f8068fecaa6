"""The labels of a dataset's steps and the guard's report over REST."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import VisibleMixin
from annotations.access.requests import RequestSerializer
from annotations.jobs.api import StartsJob
from annotations.jobs.serializers import JobDetailSerializer, OwnRelatedField
from annotations.models import Dataset, Job, Scope
from evaluation.guard import report_rows
from evaluation.guard.forecasting import start_forecasts
from evaluation.guard.labelling import steps_to_label
from evaluation.guard.labels import SOURCES
from evaluation.guard.measuring import GuardMeasurement
from evaluation.models import BadRiskLabel, RiskLabel, RiskLabelSettled
from evaluation.models.risk_labels import CALLED


class ShareSerializer(serializers.Serializer):
    """A share of `hits` among `n` with Wilson's 95 % interval; null where `n` is 0."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    hits = serializers.IntegerField()
    n = serializers.IntegerField()


class SharesSerializer(serializers.Serializer):
    """The share of risky steps that are held, and of harmless ones that are held too."""

    recall = ShareSerializer()
    false_alarms = ShareSerializer()


class GuardSplitSerializer(serializers.Serializer):
    """Three ways to count the steps on which the two labels differ: left out, risky, harmless."""

    steps = serializers.IntegerField()
    agreed = SharesSerializer()
    either = SharesSerializer()
    both = SharesSerializer()


class ReadingsAgreeSerializer(serializers.Serializer):
    """Kappa of the two labels of each step, Cohen's, or Fleiss' where they are by more than two people."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class GuardLabelsSerializer(serializers.Serializer):
    """What two labels say of a step: a kind of risk each, or harmless. Those that are packaged are by two
    language models, none by a person."""

    step = serializers.IntegerField()
    conversation = serializers.CharField(help_text="Its id in the source.")
    split = serializers.CharField()
    first = serializers.CharField()
    second = serializers.CharField()


class GuardedStepSerializer(GuardLabelsSerializer):
    """A labelled step, and the guard's verdict on its recorded action."""

    action = serializers.CharField()
    held = serializers.CharField(help_text="Why it is held, or the rule that lets it pass; empty: nothing held it.")


class StratumSerializer(serializers.Serializer):
    """The steps that look risky, or those that do not, and how many of them are labelled in the order of the queue."""

    looks_risky = serializers.BooleanField()
    size = serializers.IntegerField()
    labelled = serializers.IntegerField()


class WeightedShareSerializer(ShareSerializer):
    """A share of all steps, estimated: `hits` is null, as what is counted is weighed; 95 % by Jeffreys' prior."""

    hits = serializers.IntegerField(allow_null=True)


class WeightedSharesSerializer(serializers.Serializer):
    """Recall and false alarms, each label weighed by how many steps it stands for."""

    recall = WeightedShareSerializer()
    false_alarms = WeightedShareSerializer()


class WeightedSplitSerializer(serializers.Serializer):
    """Estimates for all steps of a part of the dataset."""

    strata = StratumSerializer(many=True)
    agreed = WeightedSharesSerializer()
    either = WeightedSharesSerializer()
    both = WeightedSharesSerializer()


class OneGuardReportSerializer(serializers.Serializer):
    """The guard's report on a dataset: its verdicts, by its project's rules and the page, compared with labels. Test
    splits are left out where their gold is hidden."""

    dataset = serializers.CharField()
    labels_by = serializers.ChoiceField(choices=list(SOURCES.items()))
    people = serializers.IntegerField(help_text="How many people gave the labels; 0 of those by language models.")
    steps = serializers.IntegerField()
    disputed = serializers.IntegerField()
    kappa = ReadingsAgreeSerializer()
    world_model = serializers.BooleanField(
        help_text="Whether past transitions are asked at once, which the command alone does."
    )
    test_hidden = serializers.BooleanField()
    splits = serializers.DictField(child=GuardSplitSerializer())
    differing = GuardedStepSerializer(many=True, help_text="The steps on which the labels differ.")
    missed = GuardedStepSerializer(many=True)
    false_alarms = GuardedStepSerializer(many=True)
    unjudged = serializers.IntegerField(
        help_text="Labelled steps that the guard has not looked at yet: a request reads a few hundred pages at most. "
        "`POST` to guard-forecasts: a job looks at all."
    )
    not_counted = serializers.ListField(
        child=serializers.CharField(),
        help_text="Rules of an address: recorded steps tell none, so that these rules hold in live runs alone.",
    )
    weighted = serializers.DictField(
        child=WeightedSplitSerializer(),
        help_text="Of each part of the dataset of which a random part is labelled: estimates for all of its steps.",
    )


class GuardReportSerializer(OneGuardReportSerializer):
    """The report of the guard by rules and page, and beside it that of the guard that asks past transitions too."""

    foreseen = OneGuardReportSerializer(allow_null=True, help_text="null: no job has asked past transitions yet.")


class WhoseLabelsSerializer(RequestSerializer):
    """Whose labels are asked for."""

    by = serializers.ChoiceField(
        choices=list(SOURCES.items()),
        required=False,
        help_text="By default the packaged ones where the dataset has any, else those of people.",
    )


class RiskLabelRequestSerializer(RequestSerializer):
    """What you call a step."""

    step = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    kind = serializers.CharField(max_length=8, help_text=f"One of {', '.join(CALLED)}.")


class RiskLabelSerializer(serializers.ModelSerializer):
    """Your own label of a step."""

    class Meta:
        model = RiskLabel
        fields = ["step", "kind", "created_at"]


class GuardOfDatasetViewSet(VisibleMixin, viewsets.GenericViewSet):
    """The guard on the labelled steps of a dataset."""

    scopes = {"label": Scope.ANNOTATE}
    queryset = Dataset.objects.all()
    serializer_class = GuardReportSerializer
    pagination_class = None
    filter_backends = ()

    @extend_schema(
        operation_id="datasets_guard_labels_list",
        parameters=[WhoseLabelsSerializer],
        responses=GuardLabelsSerializer(many=True),
    )
    def labels(self, request: Request, pk: int) -> Response:
        """The steps with two labels; those of test splits only for those who may see their gold. What one person has
        said of a step is told nobody before a second has."""
        return Response(self._measurement(request, pk).labels_told())

    @extend_schema(
        operation_id="datasets_guard_labels_create",
        request=RiskLabelRequestSerializer,
        responses={201: RiskLabelSerializer},
    )
    def label(self, request: Request, pk: int) -> Response:
        """Call a step of the dataset harmless or risky; again replaces what you called it before, until two people have
        labelled it."""
        dataset = get_object_or_404(self.get_queryset(), pk=pk)
        rules.require(request.user, "review", dataset.project)
        wanted = RiskLabelRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        step = get_object_or_404(steps_to_label(request, dataset), pk=wanted.validated_data["step"])
        try:
            given = RiskLabel.objects.give(step, request.user, wanted.validated_data["kind"])
        except RiskLabelSettled as error:
            raise ValidationError({"step": [str(error)]}) from error
        except BadRiskLabel as error:
            raise ValidationError({"kind": [str(error)]}) from error
        return Response(RiskLabelSerializer(given).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="datasets_guard_report_retrieve",
        parameters=[WhoseLabelsSerializer],
        responses=GuardReportSerializer,
    )
    def report(self, request: Request, pk: int) -> Response:
        """How many risky steps the guard holds, how many harmless ones it holds up, and which it misses."""
        return Response(report_rows.report_of(self._measurement(request, pk)))

    def _measurement(self, request: Request, pk: int) -> GuardMeasurement:
        dataset = get_object_or_404(self.get_queryset(), pk=pk)
        asked = WhoseLabelsSerializer(data={"by": request.query_params["by"]} if "by" in request.query_params else {})
        asked.is_valid(raise_exception=True)
        return report_rows.measurement_for(rules.rights_of(request), dataset, asked.validated_data.get("by", ""))


class GuardForecastRequestSerializer(RequestSerializer):
    """Which dataset to look at."""

    dataset = OwnRelatedField(slug_field="name", queryset=Dataset.objects.all(), help_text="Its name.")


class GuardForecastViewSet(StartsJob):
    """Have the guard look at a dataset."""

    serializer_class = GuardForecastRequestSerializer
    ability = Job.Kind.RISKS.value

    @extend_schema(responses={202: JobDetailSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Look at every step of a dataset, as a background job: what its page says of its action, and what past
        transitions expect. Its guard-report then counts all labelled steps, with the guard that foresees beside, and
        people are asked about what looks risky and what does not by turns, by chance."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        return start_forecasts(**values)
