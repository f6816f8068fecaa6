"""Trained models over the API: reading only; trainings are started on the command line."""

from rest_framework import serializers

from agents.models import TrainedModel
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
    class Meta(TrainedModelSerializer.Meta):
        fields = [*TrainedModelSerializer.Meta.fields, "curve"]


class TrainedModelViewSet(ReadOnlyViewSet):
    """Models trained here, newest first."""

    queryset = TrainedModel.objects.select_related("created_by")
    filterset_fields = ["kind", "ready"]

    def get_serializer_class(self) -> type[TrainedModelSerializer]:
        return TrainedModelSerializer if self.action == "list" else TrainedModelDetailSerializer
