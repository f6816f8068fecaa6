"""Curation over REST, under the rules of its page: two versions of one item, and the one that is made of them."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.desk.write import opening
from annotations.desk.write.api import UNREADY
from annotations.desk.write.document import readable
from annotations.desk.write.refusals import declined
from annotations.models import Curation, CurationChoice, Scope
from annotations.models.work.curations import MAX_WORDS
from annotations.text.versions import PlacedPart
from annotations.work.verify.curating import Curating


class CurationSerializer(serializers.ModelSerializer):
    """`first` and `second`: the versions (a and b), compared as they were at `first_version` and `second_version`;
    `taken`: the one that passed, with what was taken from the other one; null before that."""

    class Meta:
        model = Curation
        fields = [
            *("id", "first", "second", "first_version", "second_version", "user", "begun_at"),
            "active_seconds",
            *("finished_at", "taken"),
        ]


class CurationRequestSerializer(serializers.Serializer):
    """`first`, `second`: assignments of one item, both handed in; their order does not matter."""

    first = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    second = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class OwnPartSerializer(serializers.Serializer):
    step = serializers.IntegerField(min_value=1)
    instruction = serializers.CharField(max_length=MAX_WORDS)
    rewrite = serializers.CharField(max_length=MAX_WORDS, allow_blank=True, default="")


class VersionPartSerializer(serializers.Serializer):
    """A part of a version: its first step, and what it says."""

    step = serializers.IntegerField()
    instruction = serializers.CharField()
    rewrite = serializers.CharField()
    mentions = serializers.ListField(child=serializers.DictField())


class DifferenceSerializer(serializers.Serializer):
    """Steps in which the versions differ, from a cut that both have. `differs_in`: cuts, words or mentions; `take`:
    what was decided, "" before that; `parts`: other words, where those were taken."""

    step = serializers.IntegerField()
    differs_in = serializers.CharField()
    a = VersionPartSerializer(many=True)
    b = VersionPartSerializer(many=True)
    take = serializers.ChoiceField(choices=CurationChoice.Take.choices, allow_blank=True)
    parts = OwnPartSerializer(many=True)


class TakeRequestSerializer(serializers.Serializer):
    """`step`: the first one of a difference; `parts`: with "own", the other words, a part each (decompositions have
    no rewrites)."""

    step = serializers.IntegerField(min_value=1)
    take = serializers.ChoiceField(choices=CurationChoice.Take.choices)
    parts = serializers.ListField(child=OwnPartSerializer(), max_length=500, default=list)


class FinishRequestSerializer(serializers.Serializer):
    sure = serializers.BooleanField(default=False, help_text="Pass it though something about it is doubtful.")


class OfCuration(filters.FilterSet):
    assignment = filters.NumberFilter(method="about")
    campaign = filters.NumberFilter(field_name="first__item__session__campaign")
    is_open = filters.BooleanFilter(field_name="finished_at", lookup_expr="isnull")

    def about(self, rows: QuerySet[Curation], name: str, value: int) -> QuerySet[Curation]:
        return rows.filter(first=value) | rows.filter(second=value)


class CurationViewSet(ReadOnlyViewSet):
    """Two versions of one item on their way to be one, for those who may read both. What both say stands; a reviewer
    who made neither decides each difference, and the version from which more was taken passes."""

    scopes = dict.fromkeys(("create", "decide", "undo", "finish"), Scope.ANNOTATE)
    queryset = Curation.objects.live()
    serializer_class = CurationSerializer
    filterset_class = OfCuration
    gold_split = "first__item__session__split"
    gold_project = "first__item__session__campaign__project"

    def get_queryset(self) -> QuerySet[Curation]:
        seen = readable(self.request.user)
        return super().get_queryset().filter(first__in=seen, second__in=seen)

    @extend_schema(
        request=CurationRequestSerializer,
        responses={201: CurationSerializer} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Begin to make one of two versions, or go on: your decisions about both as they are now."""
        asked = CurationRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)

        def work() -> Response:
            user, keys = signed_in(request), asked.validated_data
            try:
                pair = opening.two_versions(user, keys["first"], keys["second"])
            except Http404 as error:
                raise ValidationError({"second": ["These are not two versions of one item."]}) from error
            return self._told(Curation.objects.begin(user, *pair), status.HTTP_201_CREATED)

        with declined():
            return idempotency.once(request, work)

    @extend_schema(responses={200: DifferenceSerializer(many=True)})
    @action(detail=True, pagination_class=None, filterset_class=None)
    def differences(self, request: Request, pk: str) -> Response:
        """Where the versions differ, with what was decided."""
        return self._differing(self.get_object())

    @extend_schema(
        request=TakeRequestSerializer,
        responses={200: DifferenceSerializer(many=True)} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    @action(detail=True, methods=["post"], pagination_class=None, filterset_class=None)
    def decide(self, request: Request, pk: str) -> Response:
        """Take a, b, or other words in one difference; deciding again replaces what was decided."""
        found = self.get_object()
        asked = TakeRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return self._done(request, found, lambda own: own.decide(**asked.validated_data))

    @extend_schema(
        request=None,
        responses={200: DifferenceSerializer(many=True)} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    @action(detail=True, methods=["post"], pagination_class=None, filterset_class=None)
    def undo(self, request: Request, pk: str) -> Response:
        """Take the last decision back; nothing happens where there is none."""
        return self._done(request, self.get_object(), lambda own: own.undo())

    @extend_schema(
        request=FinishRequestSerializer,
        responses={200: CurationSerializer} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    @action(detail=True, methods=["post"])
    def finish(self, request: Request, pk: str) -> Response:
        """Make one version of both, which passes; 422 while something is not decided, or is doubtful, which `sure`
        passes all the same."""
        found = self.get_object()
        asked = FinishRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)

        def work() -> Response:
            Curating(found, signed_in(request)).finish(sure=asked.validated_data["sure"])
            return self._told(found, status.HTTP_200_OK)

        with declined():
            return idempotency.once(request, work)

    def _told(self, curation: Curation, code: int) -> Response:
        return Response(CurationSerializer(Curation.objects.get(pk=curation.pk)).data, status=code)

    def _differing(self, curation: Curation) -> Response:
        choices = curation.standing()
        rows = [
            {
                "step": step,
                "differs_in": stretch.differs_in,
                "a": _parts(stretch.first),
                "b": _parts(stretch.second),
                "take": choices[step].take if step in choices else "",
                "parts": choices[step].parts if step in choices else [],
            }
            for step, stretch in curation.differing().items()
        ]
        return Response(DifferenceSerializer(rows, many=True).data)

    def _done(self, request: Request, found: Curation, act: Callable[[Curating], object]) -> Response:
        def work() -> Response:
            act(Curating(found, signed_in(request)))
            return self._differing(found)

        with declined():
            return idempotency.once(request, work)


def _parts(parts: Sequence[PlacedPart]) -> list[dict[str, Any]]:
    return [{"step": step, **says} for step, says in parts]
