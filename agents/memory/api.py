"""Endpoints of what agents remember: snippets, exemplars, and workflows, which people may correct; and the start of a
job that keeps transitions."""

from typing import Any

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from agents.encoders.weights import MINILM
from agents.memory import workflow_rows
from agents.models import Exemplar, MemorySnippet, Workflow
from annotations.access import idempotency
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.jobs.api import StartsJob
from annotations.jobs.serializers import JobDetailSerializer
from annotations.models import Dataset, Job


class MemorySnippetSerializer(serializers.ModelSerializer):
    class Meta:
        model = MemorySnippet
        fields = ["id", "step", "conversation", "encoder", "text"]


class ExemplarSerializer(serializers.ModelSerializer):
    class Meta:
        model = Exemplar
        fields = ["id", "dataset", "conversation", "split", "domain", "encoder", "key_text"]


class WorkflowSerializer(serializers.ModelSerializer):
    edited_by = UsernameField(source="edited_by.username", default=None, read_only=True)

    class Meta:
        model = Workflow
        fields = [
            *("id", "dataset", "website", "name", "description", "body", "origin", "run", "position", "model_name"),
            *("encoder", "sources", "edited_by", "edited_at"),
        ]


class WorkflowEditSerializer(serializers.ModelSerializer):
    """What a person may change of a workflow."""

    class Meta:
        model = Workflow
        fields = ["name", "description", "body"]

    def validate_name(self, name: str) -> str:
        found = self.instance
        assert found is not None  # a workflow is changed here, never made
        if found.dataset.workflows.named(name, found.website_id).exclude(pk=found.pk).exists():
            raise serializers.ValidationError("Another workflow of this website has this name.")
        return name

    def validate_description(self, text: str) -> str:
        return " ".join(text.split())

    def validate_body(self, text: str) -> str:
        return workflow_rows.lines(text)


class MemorySnippetFilter(filters.FilterSet):
    conversation = filters.NumberFilter()
    step = filters.NumberFilter()

    class Meta:
        model = MemorySnippet
        fields = ["encoder"]


class ExemplarFilter(filters.FilterSet):
    dataset = filters.NumberFilter()

    class Meta:
        model = Exemplar
        fields = ["domain", "encoder"]


class WorkflowFilter(filters.FilterSet):
    dataset = filters.NumberFilter()
    website = filters.NumberFilter()
    run = filters.NumberFilter()

    class Meta:
        model = Workflow
        fields = ["name", "origin"]


class MemorySnippetViewSet(ReadOnlyViewSet):
    """Past steps that agents remember. Those of test splits tell gold actions and are left out where gold is hidden."""

    queryset = MemorySnippet.objects.defer("embedding")
    serializer_class = MemorySnippetSerializer
    filterset_class = MemorySnippetFilter
    gold_split = "conversation__split"
    gold_project = "conversation__dataset__project"


class ExemplarViewSet(ReadOnlyViewSet):
    """Train-split trajectories that prompts show."""

    queryset = Exemplar.objects.defer("embedding")
    serializer_class = ExemplarSerializer
    filterset_class = ExemplarFilter


class WorkflowViewSet(ReadOnlyViewSet):
    """Reusable routines. Those that a run over test splits induced tell gold actions and are left out where gold is
    hidden."""

    queryset = (
        Workflow.objects.select_related("edited_by", "dataset__project")
        .prefetch_related("sources")
        .with_encoders()
        .with_gold_split()
    )
    serializer_class = WorkflowSerializer
    filterset_class = WorkflowFilter
    gold_split = "gold_split"
    gold_project = "dataset__project"

    @extend_schema(request=WorkflowEditSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Correct a workflow as a person: no induction replaces it any more. Those of a run stay as they are."""
        found = self.get_object()
        if not found.may_be_edited_by(request.user):
            raise PermissionDenied("Workflows are edited by annotators and admins; those of a run stay as they are.")
        wanted = WorkflowEditSerializer(found, data=request.data, partial=True)
        wanted.is_valid(raise_exception=True)
        workflow_rows.edit(found, signed_in(request), wanted.validated_data)
        return Response(self.get_serializer(self.get_object()).data)


class TransitionsRequestSerializer(RequestSerializer):
    """Whose transitions to keep, and how they are found."""

    dataset = OwnRelatedField(slug_field="name", queryset=Dataset.objects.all(), help_text="Its name.")
    encoder = serializers.CharField(
        default=MINILM, max_length=200, help_text="Embeds them; the guard asks those of the packaged encoder."
    )
    describe = serializers.BooleanField(default=False, help_text="The configured model puts them into words, too.")


class TransitionsViewSet(StartsJob):
    """Keep transitions."""

    serializer_class = TransitionsRequestSerializer
    ability = Job.Kind.TRANSITION.value

    @extend_schema(responses={202: JobDetailSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Keep what each action of the train split did to its page, as a background job: what the world model of kind
        `retrieval` looks up, and the guard that foresees. What is kept already stays."""
        return super().create(request)

    def start(self, **values: Any) -> Job:
        from agents.memory.jobs import start_transitions

        return start_transitions(**values)
