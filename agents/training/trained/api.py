"""Trained models over the API: reading and deleting; trainings are started on the command line."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import TrainedModel
from agents.training.trained.removing import ModelInUse, ModelRemoval
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.corpus.serializers import UsernameField


class TrainedModelSerializer(serializers.ModelSerializer):
    """Weights made here; `ready` once they are complete."""

    created_by = UsernameField(source="created_by.username", default=None, read_only=True)

    class Meta:
        model = TrainedModel
        fields = [
            *("id", "name", "kind", "base", "project", "dataset", "dataset_name", "data_sha256", "split", "seed"),
            *("config", "metrics", "job", "ready", "created_by", "created_at", "finished_at"),
        ]


class TrainedModelDetailSerializer(TrainedModelSerializer):
    """`asks`: what its training asks of a language model, in sentences; the limits on these calls, and what they have
    used."""

    asks = serializers.ListField(child=serializers.CharField(), source="job.params.asks", default=list, read_only=True)

    class Meta(TrainedModelSerializer.Meta):
        fields = [
            *TrainedModelSerializer.Meta.fields,
            *("curve", "asks", "budget_tokens", "budget_cost", "budget_seconds"),
            *("spent_tokens", "spent_cost", "spent_seconds"),
        ]


class ModelUsesSerializer(serializers.Serializer):
    """What uses a model, for which it cannot be deleted."""

    detail = serializers.CharField()
    uses = serializers.ListField(child=serializers.CharField(), help_text="What uses it, a sentence each.")


class TrainedModelViewSet(ReadOnlyViewSet):
    """Models trained here, newest first."""

    queryset = TrainedModel.objects.select_related("created_by", "project")
    filterset_fields = ["kind", "ready"]

    def get_serializer_class(self) -> type[TrainedModelSerializer]:
        return TrainedModelSerializer if self.action == "list" else TrainedModelDetailSerializer

    @extend_schema(responses={204: None, 409: ModelUsesSerializer})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a model with its files. Only who trained it and admins of its project may; 409 while something uses
        it."""
        found = self.get_object()
        try:
            ModelRemoval(found, request.user).carry_out()
        except ModelInUse as error:
            refused = {"detail": f"{found.name} is in use.", "uses": error.uses}
            return Response(refused, status=status.HTTP_409_CONFLICT)
        return Response(status=status.HTTP_204_NO_CONTENT)
