"""Held steps over REST: the list and the decisions of their page, for programs."""

from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.holding import deciding
from agents.models import CannotDecide, DecidedAlready, HeldStep
from annotations.access import idempotency
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.corpus.api import IMMUTABLE
from annotations.corpus.correct.api import RefusedSerializer
from annotations.corpus.serializers import SnapshotHtmlSerializer, UsernameField
from annotations.models import Scope


class HeldStepConflict(APIException):
    """Somebody was first, or the time to decide is over."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "refused"


class HeldStepSerializer(serializers.ModelSerializer):
    """A risky action that waits for a person, or of which a person, or time, has decided."""

    run = serializers.IntegerField(source="trajectory.run_id", read_only=True)
    decided_by = UsernameField(source="decided_by.username", default=None, read_only=True)
    changed_to = deciding.DoneInsteadSerializer(read_only=True, allow_null=True)
    outcome = serializers.CharField(read_only=True, help_text="Who decided what, in words; empty while it waits.")

    class Meta:
        model = HeldStep
        fields = [
            *("id", "run", "trajectory", "seq", "operation", "node_id", "value", "representation", "url"),
            *("kind", "why", "by", "sure", "held_at", "until"),
            *("state", "decided_by", "decided_at", "reason", "changed_to", "outcome"),
        ]


class HeldStepFilter(filters.FilterSet):
    run = filters.NumberFilter(field_name="trajectory__run")
    trajectory = filters.NumberFilter()
    dataset = filters.NumberFilter(field_name="trajectory__run__dataset")

    class Meta:
        model = HeldStep
        fields = ["state", "kind"]


class HeldStepViewSet(ReadOnlyViewSet):
    """Risky actions of live episodes that wait for a person, and those that were decided; those over hidden gold are
    left out."""

    scopes = {"decide": Scope.ANNOTATE}
    queryset = HeldStep.objects.select_related("trajectory", "decided_by")
    serializer_class = HeldStepSerializer
    filterset_class = HeldStepFilter
    gold_split, gold_project = deciding.GOLD

    def get_queryset(self) -> QuerySet[HeldStep]:
        rows = super().get_queryset()
        return rows.select_related("snapshot__dictionary") if self.action == "html" else rows

    @extend_schema(responses=SnapshotHtmlSerializer)
    @action(detail=True)
    def html(self, request: Request, pk: str) -> Response:
        """The page on which the step was held, as a JSON string, as that of `snapshots` is; 404 where none was kept."""
        page = self.get_object().snapshot
        if page is None:
            raise Http404
        return Response({"sha256": page.sha256, "html": page.html}, headers={"Cache-Control": IMMUTABLE})

    @extend_schema(
        request=deciding.StepDecisionSerializer,
        responses={200: HeldStepSerializer, 409: RefusedSerializer},
        parameters=[idempotency.PARAMETER],
    )
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Approve, change or refuse a held step, as a reviewer. Of several people the first one decides: the others are
        answered 409 with who it was, as is whoever comes after `until`."""
        user = signed_in(request)
        found = deciding.open_held_step(user, pk)
        wanted = deciding.StepDecisionSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)

        def work() -> Response:
            try:
                wanted.decide(found, user)
            except DecidedAlready as error:
                raise HeldStepConflict(str(error)) from error
            except CannotDecide as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(self.get_serializer(found).data)

        return idempotency.once(request, work)
