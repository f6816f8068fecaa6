"""Read endpoints of projects and datasets. Gold of test splits is null for those who may not see it."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import AnyAccept, ReadOnlyViewSet
from annotations.access.downloads import attachment
from annotations.access.people import signed_in
from annotations.corpus import filters, rationales, serializers
from annotations.corpus.browse.step_page import unflagged_candidates
from annotations.models import (
    Conversation,
    Dataset,
    Membership,
    Project,
    Rationale,
    Scope,
    Screenshot,
    Snapshot,
    SourceTask,
    Step,
    Turn,
    Website,
)
from annotations.models.corpus.conversations import StepQuerySet
from annotations.models.corpus.pages import SnapshotQuerySet

SHA256 = "[0-9a-f]{64}"
IMMUTABLE = "private, max-age=31536000, immutable"  # addressed by content, so it never changes
SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


class ProjectViewSet(ReadOnlyViewSet):
    """Projects that the user belongs to."""

    queryset = Project.objects.all()
    serializer_class = serializers.ProjectSerializer
    filterset_fields = ["slug"]


class MembershipViewSet(ReadOnlyViewSet):
    """Who belongs to the user's projects, in which role."""

    queryset = Membership.objects.select_related("user")
    serializer_class = serializers.MembershipSerializer
    filterset_class = filters.MembershipFilter


class DatasetViewSet(ReadOnlyViewSet):
    """Datasets of the user's projects."""

    queryset = Dataset.objects.all()
    serializer_class = serializers.DatasetSerializer
    filterset_class = filters.DatasetFilter

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def stats(self, request: Request, pk: str) -> Response:
        """Counts, means and bytes per split, as the command `dataset_stats --json` prints them. What is measured on
        the steps of test splits is null, and their pages do not count, for those who may not see their gold."""
        from annotations.corpus.statistics import dataset_stats

        found = self.get_object()
        sees_test = rules.rights_of(request).sees_gold(found.project_id, "test")
        return Response(dataset_stats(found, sees_test=sees_test))


class WebsiteViewSet(ReadOnlyViewSet):
    """Websites of datasets, with their domain and subdomain."""

    queryset = Website.objects.all()
    serializer_class = serializers.WebsiteSerializer
    filterset_class = filters.WebsiteFilter


class SourceTaskViewSet(ReadOnlyViewSet):
    """Single-turn tasks that conversations are organised from."""

    queryset = SourceTask.objects.all()
    serializer_class = serializers.SourceTaskSerializer
    filterset_class = filters.SourceTaskFilter


class ConversationViewSet(ReadOnlyViewSet):
    """Conversations; the detail nests turns, steps and gold targets."""

    queryset = Conversation.objects.select_related("website")
    filterset_class = filters.ConversationFilter

    def get_serializer_class(self) -> type[serializers.ConversationSerializer]:
        listed = self.action == "list"
        return serializers.ConversationSerializer if listed else serializers.ConversationDetailSerializer

    def get_queryset(self) -> QuerySet[Conversation]:
        rows = super().get_queryset()
        if self.action == "list":
            return rows
        steps = Step.objects.order_by("index").with_checksums(rules.OPENING)
        turns = Turn.objects.order_by("index").prefetch_related(Prefetch("steps", queryset=steps))
        return rows.prefetch_related(Prefetch("turns", queryset=turns))


class TurnViewSet(ReadOnlyViewSet):
    """Turns: one instruction each."""

    queryset = Turn.objects.all()
    serializer_class = serializers.TurnSerializer
    filterset_class = filters.TurnFilter


class StepViewSet(ReadOnlyViewSet):
    """Gold steps."""

    queryset = Step.objects.all()
    serializer_class = serializers.StepSerializer
    filterset_class = filters.StepFilter

    def get_queryset(self) -> QuerySet[Step]:
        steps = super().get_queryset()
        assert isinstance(steps, StepQuerySet)
        rows = steps.with_checksums(rules.OPENING)
        return rows.defer(None) if self.action == "candidates" else rows

    @extend_schema(responses=serializers.StepCandidatesSerializer)
    @action(detail=True)
    def candidates(self, request: Request, pk: str) -> Response:
        """The elements that a ranker may offer at this step."""
        step = self.get_object()
        sight = rules.rights_of(request).sight(step.project_id, step.split, opening=step.opening)
        positives, negatives = step.candidate_records()
        if sight == rules.Sight.GOLD:
            rows = [_candidate(record, True) for record in positives]
            rows += [_candidate(record, False) for record in negatives]
        elif sight == rules.Sight.OPENING:
            rows = [_candidate(record, None) for record in unflagged_candidates(step)]
        else:
            rows = []
        return Response({"step": step.pk, "gold_hidden": sight < rules.Sight.GOLD, "candidates": rows})


def _candidate(record: Any, positive: bool | None) -> dict[str, Any]:
    return {"node_id": record.node_id, "tag": record.tag, "attributes": record.attributes, "positive": positive}


class SnapshotViewSet(ReadOnlyViewSet):
    """Stored pages, by the SHA-256 of their content."""

    queryset = Snapshot.objects.defer("data")
    serializer_class = serializers.SnapshotSerializer
    filterset_fields: list[str] = []
    page_order = "sha256"  # a number in the cursor would tell the place of a page among hidden ones
    lookup_field = "sha256"
    lookup_value_regex = SHA256

    def get_queryset(self) -> QuerySet[Snapshot]:
        rows = super().get_queryset()
        assert isinstance(rows, SnapshotQuerySet)
        return rows.defer(None).with_content() if self.action == "html" else rows

    @extend_schema(responses=serializers.SnapshotHtmlSerializer)
    @action(detail=True)
    def html(self, request: Request, sha256: str) -> Response:
        """The page as imported, as a JSON string: hostile HTML is never served from this origin as HTML."""
        return Response({"sha256": sha256, "html": self.get_object().html}, headers={"Cache-Control": IMMUTABLE})


class ScreenshotViewSet(ReadOnlyViewSet):
    """Images of pages, by the SHA-256 of their content."""

    queryset = Screenshot.objects.defer("data")
    serializer_class = serializers.ScreenshotSerializer
    filterset_fields: list[str] = []
    page_order = "sha256"  # a number in the cursor would tell the place of a page among hidden ones
    lookup_field = "sha256"
    lookup_value_regex = SHA256

    @extend_schema(responses={(200, "image/*"): OpenApiTypes.BINARY})
    @action(detail=True, content_negotiation_class=AnyAccept)
    def image(self, request: Request, sha256: str) -> HttpResponseBase:
        """The image's bytes, as an attachment."""
        shot = self.get_object()
        return image_answer(sha256, shot.media_type, bytes(shot.data))


def image_answer(sha256: str, media_type: str, data: bytes) -> HttpResponseBase:
    """The bytes of a screenshot that the user may see, as an attachment."""
    response = HttpResponse(data, content_type=media_type)
    response["Cache-Control"] = IMMUTABLE
    return attachment(response, f"{sha256}.{SUFFIXES[media_type]}")


class RationaleViewSet(ReadOnlyViewSet):
    """Why an action fits. Rationales of test splits tell the gold action and are left out where it is hidden.

    A person's correction is a new rationale; the older ones are kept, and agents get the newest by a person.
    """

    scopes = {"create": Scope.ANNOTATE}
    queryset = Rationale.objects.select_related("author")
    serializer_class = serializers.RationaleSerializer
    filterset_class = filters.RationaleFilter
    gold_split = "step__turn__conversation__split"
    gold_project = "step__turn__conversation__dataset__project"

    @extend_schema(
        request=serializers.RationaleRequestSerializer,
        responses={201: serializers.RationaleSerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Write or correct the rationale of a step, as a person."""
        wanted = serializers.RationaleRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)

        def work() -> Response:
            made = rationales.explain(signed_in(request), **wanted.validated_data)
            return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)
