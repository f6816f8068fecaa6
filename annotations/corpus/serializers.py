"""JSON of projects, datasets and what people said and did. Explicit fields; gold is null where it is hidden."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotations.access.requests import OwnRowField, RequestSerializer
from annotations.access.rules import Sight
from annotations.corpus.rationales import MAX_LENGTH
from annotations.models import (
    Conversation,
    Dataset,
    Membership,
    Operation,
    Project,
    Rationale,
    Screenshot,
    Snapshot,
    SourceTask,
    Step,
    Target,
    Turn,
    Website,
)


class ProjectSerializer(serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ["id", "name", "slug", "created_at"]


class MembershipSerializer(serializers.ModelSerializer):
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "project", "username", "role", "sees_test_gold"]


class DatasetSerializer(serializers.ModelSerializer):
    class Meta:
        model = Dataset
        fields = ["id", "name", "project", "source_format", "description", "licence", "created_at"]


class WebsiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Website
        fields = ["id", "dataset", "name", "domain", "subdomain"]


class SourceTaskSerializer(serializers.ModelSerializer):
    class Meta:
        model = SourceTask
        fields = ["id", "dataset", "source_id", "website", "split", "instruction"]


class TargetSerializer(serializers.ModelSerializer):
    class Meta:
        model = Target
        fields = ["node_id", "position", "node_order", "pruned", "is_original", "is_top_level"]


class StepSerializer(serializers.ModelSerializer):
    """A gold step; pages are named by their SHA-256. Expects rows of `StepQuerySet.with_checksums`."""

    # Null, with gold_hidden true, for steps of test splits whose gold the reader may not see; of their steps but the
    # first the pages are too, which show what the gold action before did (`access.rules.Sight`).
    GOLD = (
        *("source_id", "source_index", "operation", "original_operation", "value", "action_repr", "targets", "extra"),
        *("snapshot_after", "keeps_page_after", "candidate_count"),
    )
    PAGES = ("snapshot", "raw_snapshot", "screenshot")

    source_id = serializers.CharField(read_only=True, allow_null=True)
    source_index = serializers.IntegerField(read_only=True, allow_null=True)
    keeps_page_after = serializers.BooleanField(read_only=True, allow_null=True)
    candidate_count = serializers.IntegerField(read_only=True, allow_null=True)
    operation = serializers.ChoiceField(choices=Operation.choices, read_only=True, allow_null=True)
    original_operation = serializers.CharField(read_only=True, allow_null=True)
    value = serializers.CharField(read_only=True, allow_null=True)
    action_repr = serializers.CharField(read_only=True, allow_null=True)
    targets = TargetSerializer(many=True, read_only=True, allow_null=True)
    extra = serializers.JSONField(read_only=True, allow_null=True)
    gold_hidden = serializers.SerializerMethodField()
    snapshot = serializers.CharField(source="snapshot_sha256", read_only=True, allow_null=True)
    raw_snapshot = serializers.CharField(source="raw_snapshot_sha256", read_only=True, allow_null=True)
    snapshot_after = serializers.CharField(source="snapshot_after_sha256", read_only=True, allow_null=True)
    screenshot = serializers.CharField(source="screenshot_sha256", read_only=True, allow_null=True)

    class Meta:
        model = Step
        fields = [
            *("id", "turn", "index", "source_id", "source_index", "gold_hidden", "operation", "original_operation"),
            *("value", "action_repr", "targets", "snapshot", "raw_snapshot", "snapshot_after", "keeps_page_after"),
            *("screenshot", "candidate_count", "extra"),
        ]

    def get_gold_hidden(self, step: Step) -> bool:
        return self._sight(step) < Sight.GOLD

    def to_representation(self, instance: Step) -> dict[str, Any]:
        row, sight = super().to_representation(instance), self._sight(instance)
        hidden = {Sight.GOLD: (), Sight.OPENING: self.GOLD, Sight.PLACE: (*self.GOLD, *self.PAGES)}[sight]
        return row | dict.fromkeys(hidden)

    def _sight(self, step: Any) -> Sight:  # with what `rows` has annotated
        return self.context["rights"].sight(step.project_id, step.split, opening=step.opening)


class TurnSerializer(serializers.ModelSerializer):
    class Meta:
        model = Turn
        fields = ["id", "conversation", "index", "source_id", "source_index", "source_task", "instruction"]


class TurnWithStepsSerializer(TurnSerializer):
    steps = StepSerializer(many=True, read_only=True)

    class Meta(TurnSerializer.Meta):
        fields = [*TurnSerializer.Meta.fields, "steps"]


class ConversationSerializer(serializers.ModelSerializer):
    website = serializers.CharField(source="website.name", read_only=True)
    domain = serializers.CharField(source="website.domain", read_only=True)
    subdomain = serializers.CharField(source="website.subdomain", read_only=True)

    class Meta:
        model = Conversation
        fields = [
            *("id", "dataset", "source_id", "split", "position", "website", "domain", "subdomain", "turn_count"),
            *("step_count", "created_at"),
        ]


class ConversationDetailSerializer(ConversationSerializer):
    """A conversation with its turns, their steps and the steps' gold targets."""

    turns = TurnWithStepsSerializer(many=True, read_only=True)

    class Meta(ConversationSerializer.Meta):
        fields = [*ConversationSerializer.Meta.fields, "turns"]


class CandidateSerializer(serializers.Serializer):
    node_id = serializers.CharField()
    tag = serializers.CharField()
    attributes = serializers.CharField(help_text="JSON text of all attributes, as published.")
    positive = serializers.BooleanField(allow_null=True, help_text="Null where the step's gold is hidden.")


class StepCandidatesSerializer(serializers.Serializer):
    """The candidates of a step, in the order of the source, positives first. Where gold is hidden: only those of a
    conversation's first step, in the order of its page."""

    step = serializers.IntegerField()
    gold_hidden = serializers.BooleanField()
    candidates = CandidateSerializer(many=True)


class SnapshotSerializer(serializers.ModelSerializer):
    # Not when it was stored and in how many bytes, which tells whether another project had this very page before.
    class Meta:
        model = Snapshot
        fields = ["sha256", "raw_size", "node_count"]


class SnapshotHtmlSerializer(serializers.Serializer):
    sha256 = serializers.CharField()
    html = serializers.CharField(help_text="The page as imported. Untrusted: never render it outside a sandbox.")


class ScreenshotSerializer(serializers.ModelSerializer):
    class Meta:
        model = Screenshot
        fields = ["sha256", "media_type", "size"]


@extend_schema_field(serializers.CharField(allow_null=True))
class UsernameField(serializers.CharField):
    """The name of a user; the account may have been removed."""


class RationaleSerializer(serializers.ModelSerializer):
    author = UsernameField(source="author.username", default=None, read_only=True)

    class Meta:
        model = Rationale
        fields = ["id", "step", "text", "source", "author", "model_name", "created_at"]


class RationaleRequestSerializer(RequestSerializer):
    """A person's rationale of a step."""

    step = OwnRowField(queryset=Step.objects.select_related("turn__conversation__dataset__project"))
    text = serializers.CharField(max_length=MAX_LENGTH, help_text="One or two sentences why the action fits.")
