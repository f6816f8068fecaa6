"""Endpoints of prompt packs, which only read."""

from django.db.models import QuerySet
from rest_framework import serializers

from agents.models import PromptPack
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.corpus.serializers import UsernameField


class PromptPackSerializer(serializers.ModelSerializer):
    """One version of a pack, without its texts."""

    created_by = UsernameField(source="created_by.username", default=None, read_only=True)

    class Meta:
        model = PromptPack
        fields = [
            *("id", "project", "name", "version", "sha256", "base", "base_sha256", "source", "note"),
            *("created_by", "created_at"),
        ]


class PromptPackDetailSerializer(PromptPackSerializer):
    texts = serializers.DictField(child=serializers.CharField(), help_text="Name of a text -> the text.")

    class Meta(PromptPackSerializer.Meta):
        fields = [*PromptPackSerializer.Meta.fields, "texts"]


class PromptPackViewSet(ReadOnlyViewSet):
    """Versions of prompt packs that people made; the packaged one comes with the code."""

    queryset = PromptPack.objects.select_related("created_by").order_by("project", "name", "-version")
    filterset_fields = ["project", "name", "version", "sha256"]

    def get_serializer_class(self) -> type[PromptPackSerializer]:
        is_list = self.action == "list"
        return PromptPackSerializer if is_list else PromptPackDetailSerializer

    def get_queryset(self) -> QuerySet[PromptPack]:
        rows = super().get_queryset()
        return rows.defer("texts") if self.action == "list" else rows
