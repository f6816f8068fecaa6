"""Endpoints of releases, and of redactions before them."""

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelValidationError
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import OwnRelatedField, RequestSerializer
from annotations.models import Dataset, Release
from annotations.releases.keeping import under_way
from annotations.releases.redacting import redact
from annotations.releases.scanning import SCAN_SECONDS, OtherDatasets, scan_dataset


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


class RedactRequestSerializer(RequestSerializer):
    """What to take out of which dataset."""

    dataset = OwnRelatedField(slug_field="name", queryset=Dataset.objects.all(), help_text="Its name.")
    text = serializers.CharField(
        max_length=1_000, help_text="A private text that the search before a release finds in it."
    )


class HoldingDatasetSerializer(serializers.Serializer):
    dataset = serializers.CharField(help_text="The name of another dataset in which the text stands.")
    places = serializers.IntegerField(help_text="In how many.")
    url = serializers.CharField(help_text='Where it can be taken out of that one, too; "" for those who may not.')


class RedactedSerializer(serializers.Serializer):
    count = serializers.IntegerField(help_text="Out of how many places the text was taken.")
    elsewhere = HoldingDatasetSerializer(many=True)
    under_way = serializers.IntegerField(
        help_text="How many of the conversations an agent plays now, which may be stored with it once more."
    )


class RedactionViewSet(viewsets.GenericViewSet):
    """Take private texts out of datasets."""

    serializer_class = RedactRequestSerializer

    @extend_schema(responses={201: RedactedSerializer}, parameters=[idempotency.PARAMETER])
    def create(self, request: Request) -> Response:
        """Replace a private text by its kind, such as [email], wherever it stands in a dataset and in what is kept of
        it; told is in which other datasets it still stands. What was released stays as it is."""
        user = signed_in(request)
        if not rules.projects(user, "manage").exists():
            raise PermissionDenied("Your role may not do this in any project; ask an admin of yours.")
        wanted = self.get_serializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        dataset, text = wanted.validated_data["dataset"], wanted.validated_data["text"]
        rules.require(user, "manage", dataset.project)

        def work() -> Response:
            report = scan_dataset(dataset, SCAN_SECONDS)
            if not report.is_complete:
                raise serializers.ValidationError({"dataset": ["Its pages are still being read: ask again."]})
            chosen = [one for one in report.texts if one.text == text]
            if not chosen:
                raise serializers.ValidationError({"text": ["This is not among the private texts of the dataset."]})
            try:
                count = sum(redact(dataset, one, user) for one in chosen)
            except ModelValidationError as error:
                raise serializers.ValidationError({"text": error.messages}) from error
            playing = under_way({pk for one in chosen for pk in one.conversations})
            told = {
                "count": count,
                "elsewhere": OtherDatasets(user, dataset).holding(chosen),
                "under_way": playing,
            }
            return Response(RedactedSerializer(told).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)
