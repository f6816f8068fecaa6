"""Endpoints of runs, which only read. The viewset that is served is of evaluation, which adds scores to it."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from agents.models import Run, UserLedger
from agents.runs.exporting import trajectory_lines
from annotations.access import rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.downloads import attachment
from annotations.corpus.filters import CreatedAfter
from annotations.corpus.serializers import UsernameField


class RunSerializer(serializers.ModelSerializer):
    """One recipe on one split with one seed; the recipe is stored whole."""

    created_by = UsernameField(source="created_by.username", default=None, read_only=True)

    error = serializers.SerializerMethodField(help_text="Why it failed; hidden where it may quote hidden gold.")

    class Meta:
        model = Run
        fields = [
            *("id", "recipe_name", "recipe", "recipe_sha256", "dataset", "split", "seed", "limit", "websites"),
            *(
                "code_revision",
                "data_sha256",
                "step_count",
                "state",
                "error",
                "created_by",
                "created_at",
                "started_at",
                "finished_at",
            ),
        ]

    def get_error(self, run: Run) -> str:
        return self.context["rights"].message(run.error, run.dataset.project_id, run.split)


class RunDetailSerializer(RunSerializer):
    stored = serializers.IntegerField(read_only=True, help_text="Steps with a result so far, of step_count.")

    user = serializers.SerializerMethodField(
        help_text="The language model that is the user of its live conversations, and what it has used; null: scripted."
    )

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "stored", "user"]

    @extend_schema_field({"type": "object", "nullable": True, "additionalProperties": True})
    def get_user(self, run: Run) -> dict[str, Any] | None:
        return UserLedger.objects.told_of([run])


class RunFilter(CreatedAfter):
    dataset = filters.NumberFilter()
    finished_after = filters.IsoDateTimeFilter(field_name="finished_at", lookup_expr="gt")

    class Meta:
        model = Run
        fields = ["recipe_name", "recipe_sha256", "split", "seed", "state"]


class RunViewSet(ReadOnlyViewSet):
    """Runs: one recipe, one split, one seed."""

    queryset = Run.objects.select_related("created_by", "dataset")
    filterset_class = RunFilter

    def get_serializer_class(self) -> type[RunSerializer]:
        return RunSerializer if self.action == "list" else RunDetailSerializer

    def get_queryset(self) -> QuerySet[Run]:
        rows: Any = super().get_queryset()
        # The detail is what a progress bar asks.
        return rows.with_stored() if self.action == "retrieve" else rows

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def trajectories_jsonl(self, request: Request, pk: str) -> HttpResponseBase:
        """All trajectories of the run with their steps and traces, one JSON object per line, streamed."""
        run = self.get_object()
        lines = trajectory_lines(run, rules.rights_of(request))
        return attachment(
            StreamingHttpResponse(lines, content_type="application/x-ndjson"),
            f"run-{run.pk}-trajectories.jsonl",
            run.dataset.project,
        )
