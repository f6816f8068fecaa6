"""Endpoints of annotation work: campaigns, sessions, who does what, and verdicts.

What annotators must not know is not there: which sessions are hidden gold items, and, in a blind campaign, what others
make of the same item. Steps of test splits exist only for those who may see their gold.
"""

from django.db.models import Prefetch, QuerySet
from django_filters import rest_framework as filters
from rest_framework import serializers

from annotations.access.api_rules import ReadOnlyViewSet
from annotations.campaigns.api import CampaignWorkActions
from annotations.desk.write.document import readable
from annotations.desk.write.opening import AboutAnnotations
from annotations.models import Assignment, Campaign, Guideline, Item, Part, Session, Verdict
from annotations.work.verify.api import CampaignChecks, VerificationActions


class CampaignSerializer(serializers.ModelSerializer):
    guideline_version = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [
            "id",
            "project",
            "name",
            "source",
            "target",
            "mode",
            *Campaign.RULES,
            "guideline_version",
            "created_at",
            "closed_at",
        ]

    def get_guideline_version(self, campaign: Campaign) -> int | None:
        newest = next(iter(campaign.guidelines.all()), None)
        return newest.version if newest else None


class SessionSerializer(serializers.ModelSerializer):
    """`conversations`: the recorded tasks, in order; `released`: the conversation that came of it."""

    conversations = serializers.SerializerMethodField()

    class Meta:
        model = Session
        fields = ["id", "campaign", "name", "position", "website", "split", "batch", "conversations", "released"]

    def get_conversations(self, session: Session) -> list[int]:
        return [task.conversation_id for task in session.tasks.all()]


class ItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = Item
        fields = ["id", "session", "stage", "subject", "state", "overlap", "opened_at", "finished_at"]


class PartSerializer(serializers.ModelSerializer):
    class Meta:
        model = Part
        fields = ["first_step", "instruction", "rewrite", "mentions"]


class AssignmentSerializer(serializers.ModelSerializer):
    """`guideline`: the version that it was made under; `parts` stand in the order in which their first steps were
    recorded."""

    parts = PartSerializer(many=True, read_only=True)
    guideline = serializers.IntegerField(source="guideline.version", allow_null=True, read_only=True)

    class Meta:
        model = Assignment
        fields = [
            "id",
            "item",
            "slot",
            "user",
            "state",
            "review",
            "round",
            "version",
            "guideline",
            "active_seconds",
            "created_at",
            "submitted_at",
            "parts",
        ]


class VerdictSerializer(serializers.ModelSerializer):
    defects = serializers.SerializerMethodField()

    class Meta:
        model = Verdict
        fields = [
            "id",
            "assignment",
            "verification",
            "round",
            "version",
            "outcome",
            "reason",
            "checklist",
            "defects",
            "created_at",
        ]

    def get_defects(self, verdict: Verdict) -> list[dict]:
        rows = verdict.defects.all()
        return [{"id": row.pk, "code": row.code, "step": row.step_id, "note": row.note} for row in rows]


class OfCampaign(filters.FilterSet):
    campaign = filters.NumberFilter()
    name = filters.CharFilter(help_text="The whole of it.")


class OfSession(filters.FilterSet):
    session = filters.NumberFilter()
    campaign = filters.NumberFilter(field_name="session__campaign")


class OfItem(filters.FilterSet):
    item = filters.NumberFilter()
    session = filters.NumberFilter(field_name="item__session")
    campaign = filters.NumberFilter(field_name="item__session__campaign")


class OfAssignment(filters.FilterSet):
    assignment = filters.NumberFilter()
    campaign = filters.NumberFilter(field_name="assignment__item__session__campaign")


class CampaignViewSet(CampaignChecks, CampaignWorkActions, ReadOnlyViewSet):
    """Campaigns: rounds of annotation, with their rules."""

    guidelines = Prefetch("guidelines", Guideline.objects.order_by("-version"))
    queryset = Campaign.objects.live().prefetch_related(guidelines)
    serializer_class = CampaignSerializer
    filterset_fields = ["project", "source", "target"]


class SessionViewSet(ReadOnlyViewSet):
    """Sessions: conversations that campaigns are making."""

    queryset = Session.objects.live().filter(campaign__deleted_at=None).prefetch_related("tasks")
    serializer_class = SessionSerializer
    filterset_class = OfCampaign


class ItemViewSet(ReadOnlyViewSet):
    """Items: stages of sessions, and how far they are."""

    queryset = Item.objects.filter(session__deleted_at=None, session__campaign__deleted_at=None).order_by("id")
    serializer_class = ItemSerializer
    filterset_class = OfSession


class AssignmentViewSet(VerificationActions, ReadOnlyViewSet):
    """Assignments: who works on which item, and the parts that they have made."""

    queryset = Assignment.objects.select_related("guideline").prefetch_related(
        Prefetch("parts", Part.objects.order_by("first_step_id"))
    )
    serializer_class = AssignmentSerializer
    filterset_class = OfItem
    gold_split = "item__session__split"
    gold_project = "item__session__campaign__project"

    def get_queryset(self) -> QuerySet[Assignment]:
        return readable(self.request.user, super().get_queryset())


class VerdictViewSet(AboutAnnotations):
    """Verdicts of verifiers, for those who may read what was judged; of a round that is not over, only one's own."""

    queryset = Verdict.objects.prefetch_related("defects")
    serializer_class = VerdictSerializer
    filterset_class = OfAssignment

    def get_queryset(self) -> QuerySet[Verdict]:
        return super().get_queryset().filter(pk__in=Verdict.objects.open_to(self.request.user).values("pk"))
