"""Endpoints of releases."""

from django_filters import rest_framework as filters
from rest_framework import serializers

from annotations.access.api_rules import ReadOnlyViewSet
from annotations.models import Release


class ReleaseSerializer(serializers.ModelSerializer):
    class Meta:
        model = Release
        fields = [
            "id",
            "dataset",
            "version",
            "sha256",
            "notes",
            "licence",
            "consent",
            "statistics",
            "datasheet",
            "created_by",
            "created_at",
        ]


class OfDataset(filters.FilterSet):
    dataset = filters.NumberFilter()


class ReleaseViewSet(ReadOnlyViewSet):
    """Versions of datasets that never change again; the files come by an export with `release`."""

    queryset = Release.objects.all()
    serializer_class = ReleaseSerializer
    filterset_class = OfDataset
