"""JSON of reviews and of the queues that ask for them."""

from rest_framework import serializers

from agents.models import Trajectory
from annotations.access.requests import OwnRelatedField, OwnRowField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.models import Project
from annotations.models.choices import MAX_REASON
from evaluation.models import Review, ReviewChoice, ReviewQueue, ReviewReason, ReviewVerdict, Study
from evaluation.models.page_regions import LARGEST as LARGEST_PAGE
from evaluation.models.page_regions import PAGES
from evaluation.reviews.choosing import LARGEST, MOST_PEOPLE
from evaluation.reviews.deciding import SaidOfStep
from evaluation.scanners import SCANNERS
from evaluation.scanners.asking import ASKING


class EstimatedRateSerializer(serializers.Serializer):
    """A share with its 95 % interval, and the number of steps or trajectories that it is a share of; of nothing no
    value."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()

    def to_representation(self, instance: dict[str, float]) -> dict[str, float | None]:
        told = super().to_representation(instance)
        return told if told["n"] else told | {"value": None}


class PageRegionSerializer(RequestSerializer):
    """A rectangle in CSS pixels from the page's top left corner, as the page is laid out at `layout_width`."""

    page = serializers.ChoiceField(choices=sorted(PAGES.items()), help_text="Which page of the step.")
    x = serializers.FloatField(min_value=0)
    y = serializers.FloatField(min_value=0)
    width = serializers.FloatField(min_value=1)
    height = serializers.FloatField(min_value=1)
    layout_width = serializers.FloatField(min_value=1, max_value=LARGEST_PAGE, help_text="Of the page's window.")
    page_width = serializers.FloatField(min_value=1, max_value=LARGEST_PAGE, help_text="With what it scrolls to.")
    page_height = serializers.FloatField(min_value=1, max_value=LARGEST_PAGE)


class ReviewSerializer(serializers.ModelSerializer):
    """A person's verdict on a step of a trajectory, or on the whole of it (`step` null)."""

    run = serializers.IntegerField(source="trajectory.run_id", read_only=True)
    seq = serializers.IntegerField(source="step.seq", default=None, read_only=True)
    reason = serializers.CharField(source="reason.text", default=None, read_only=True, allow_null=True)
    region = PageRegionSerializer(read_only=True, allow_null=True)
    reviewer = UsernameField(source="reviewer.username", read_only=True)

    class Meta:
        model = Review
        fields = [
            *("id", "run", "trajectory", "step", "seq", "verdict", "reason", "comment", "region"),
            *("reviewer", "is_counted", "changed_at", "created_at"),
        ]


class ReviewRequestSerializer(RequestSerializer):
    """What you say of a step, or of a whole trajectory, in place of what you said before."""

    trajectory = OwnRowField(queryset=Trajectory.objects.select_related("run__dataset__project", "conversation"))
    seq = serializers.IntegerField(
        allow_null=True, default=None, min_value=0, max_value=2**31 - 1, help_text="Of the step; null: the whole."
    )
    verdict = serializers.ChoiceField(
        choices=ReviewVerdict.choices, allow_blank=True, help_text="Empty: take back what you said."
    )
    reason = serializers.CharField(
        max_length=120, allow_null=True, default=None, help_text="One of the project's list for this verdict."
    )
    comment = serializers.CharField(max_length=MAX_REASON, allow_blank=True, default="")
    region = PageRegionSerializer(allow_null=True, default=None, help_text="What you mean on the step's page.")

    def said(self) -> SaidOfStep:
        return SaidOfStep(*(self.validated_data[name] for name in SaidOfStep._fields))


class ReviewReasonSerializer(serializers.ModelSerializer):
    """A reason on a project's list; a retired one is no longer offered."""

    given = serializers.IntegerField(read_only=True, help_text="How often it was given.")

    class Meta:
        model = ReviewReason
        fields = ["id", "verdict", "text", "retired_at", "given"]


class SlugOrIdField(OwnRelatedField):
    """A project named by its slug, or else by its id."""

    def to_internal_value(self, data: object) -> Project:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError:
            if not str(data).isdecimal() or (found := self.get_queryset().filter(pk=int(str(data))).first()) is None:
                raise
            return found


class ReasonsOfSerializer(RequestSerializer):
    project = SlugOrIdField(slug_field="slug", queryset=Project.objects.all(), help_text="Whose list: its id or slug.")


class ReviewQueueSerializer(serializers.ModelSerializer):
    """Steps of a study, or whole trajectories, that people are asked to judge, and how they were chosen."""

    size = serializers.IntegerField(read_only=True, help_text="Steps, or trajectories, that it asks for.")
    noun = serializers.CharField(read_only=True, help_text="What it asks of: step or trajectory.")
    created_by = UsernameField(source="created_by.username", default=None, read_only=True)

    class Meta:
        model = ReviewQueue
        fields = [
            *("id", "project", "study", "choice", "noun", "scanner", "failure", "size", "overlap", "population"),
            "seed",
            *("created_by", "created_at"),
        ]


class ReviewQueueRequestSerializer(RequestSerializer):
    """Which steps of a study, or whole trajectories, people are to judge."""

    study = OwnRowField(queryset=Study.objects.select_related("project"))
    choice = serializers.ChoiceField(choices=ReviewChoice.choices)
    scanner = serializers.ChoiceField(
        choices=sorted({*SCANNERS, *ASKING}),
        allow_blank=True,
        default="",
        help_text="Whose findings, where that is the choice.",
    )
    trajectories = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        max_length=LARGEST,
        default=[],
        help_text="For whole_listed: which ones, in the order in which people are asked.",
    )
    failure = serializers.IntegerField(
        min_value=1,
        max_value=2**63 - 1,
        allow_null=True,
        default=None,
        help_text="For nearest: which failed step the others are like, by its id.",
    )
    size = serializers.IntegerField(min_value=1, max_value=LARGEST, default=50, help_text="How many at most.")
    overlap = serializers.IntegerField(min_value=1, max_value=MOST_PEOPLE, default=1, help_text="People for each.")
    seed = serializers.IntegerField(min_value=0, max_value=2**53, default=0, help_text="The same draws the same ones.")


class QueueProgressSerializer(serializers.Serializer):
    size = serializers.IntegerField(help_text="Steps, or trajectories, that are asked for.")
    done = serializers.IntegerField(help_text="Judged by as many people as were asked for.")
    left = serializers.IntegerField(help_text="That you may still judge.")


class AskedStepSerializer(serializers.Serializer):
    """What somebody is asked to judge; `seq` and `step` are null for the whole trajectory."""

    trajectory = serializers.IntegerField(source="trajectory_id")
    seq = serializers.IntegerField(source="step.seq", default=None, allow_null=True)
    step = serializers.IntegerField(source="step_id", allow_null=True)
    place = serializers.IntegerField(help_text="In the queue, from 0.")


class NextAskedSerializer(serializers.Serializer):
    """`next` is null where nothing is left for you."""

    next = AskedStepSerializer(allow_null=True)


class CalibrationSerializer(serializers.Serializer):
    """How well recorded gold, or the reward, judges, compared with people."""

    sensitivity = EstimatedRateSerializer()
    specificity = EstimatedRateSerializer()
    kappa = serializers.FloatField(allow_null=True)


class RunRateSerializer(serializers.Serializer):
    run = serializers.IntegerField(source="run.pk")
    by_gold = EstimatedRateSerializer()
    corrected = EstimatedRateSerializer(allow_null=True, help_text="For how gold or reward errs.")


class QueueAgreementSerializer(serializers.Serializer):
    """What the verdicts of a queue say; only a queue drawn at random has `true_rate`, `wanted` and `runs`."""

    judged = serializers.IntegerField(help_text="Steps, or trajectories, with a verdict.")
    undecided = serializers.IntegerField(help_text="Those on which people are divided; they count in nothing.")
    agreement = EstimatedRateSerializer(help_text="Of those with several verdicts, how many are unanimous.")
    noise = EstimatedRateSerializer(help_text="How often gold or page is wrong.")
    calibration = CalibrationSerializer()
    by_gold = EstimatedRateSerializer()
    true_rate = EstimatedRateSerializer(allow_null=True)
    wanted = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Right and wrong ones to judge for an interval of 10 points.",
    )
    reasons = serializers.DictField(
        child=EstimatedRateSerializer(), help_text="Of the verdicts with a reason, the share of each reason."
    )
    runs = RunRateSerializer(many=True)
