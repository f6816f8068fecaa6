"""Verification over REST, under the rules of its page."""

from typing import Any

from django.db import transaction
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import ReasonField
from annotations.desk.write import opening
from annotations.desk.write.api import UNREADY, AssignmentActions, StandingSerializer
from annotations.desk.write.checks import faulty_clauses, open_warnings
from annotations.desk.write.opening import AboutAnnotations
from annotations.desk.write.refusals import declined
from annotations.edits.saving import open_desk
from annotations.models import BulkAccept, Campaign, Dispute, Scope, Verdict, check_sure
from annotations.models.work.disputes import DisputeQuerySet
from annotations.work.verify import bulk, verdicts


class JudgeRequestSerializer(serializers.Serializer):
    """A verdict. `version`: of the annotation that is judged; `checklist`: rubric code -> whether it holds; defects
    name a code of the rubric, and the step they are at."""

    token = serializers.UUIDField()
    version = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    outcome = serializers.ChoiceField(choices=Verdict.Outcome.choices)
    checklist = serializers.DictField(child=serializers.BooleanField(), default=dict)
    reason = ReasonField(allow_blank=True, default="")
    defects = serializers.ListField(child=serializers.DictField(), default=list)
    sure = serializers.BooleanField(default=False, help_text="Accept it though warnings are open.")


class VerificationActions(AssignmentActions):
    """The actions of assignments, with the verdict of verifications."""

    scopes = AssignmentActions.scopes | {"judge": Scope.ANNOTATE}

    @extend_schema(request=JudgeRequestSerializer, responses={200: StandingSerializer} | UNREADY)
    @action(detail=True, methods=["post"])
    def judge(self, request: Request, pk: str) -> Response:
        """Accept or return the annotation that a verification judges. 422 says which warnings are open, which `sure`
        accepts all the same."""
        found = opening.verification(request.user, self.get_object().pk)
        asked = self.asked_in(request, JudgeRequestSerializer)
        with declined(), transaction.atomic():
            found.check_unchanged(signed_in(request), asked["token"], asked["version"])
            if asked["outcome"] == Verdict.Outcome.ACCEPT and found.judged is not None:
                desk = open_desk(found.judged, signed_in(request))
                check_sure([*faulty_clauses(desk), *open_warnings(desk)], sure=asked["sure"])
            outcome = asked["outcome"], asked["checklist"], asked["reason"], asked["defects"]
            verdicts.give(found, *outcome)
        return self.standing(found.pk)


class DisputeSerializer(serializers.ModelSerializer):
    """`verdicts`: those that differ; `outcome`: what was decided, "" before that; `curation`: what made one of this
    version and another, so that nothing is left to be decided."""

    verdicts = serializers.SerializerMethodField()

    class Meta:
        model = Dispute
        fields = [
            *("id", "assignment", "round", "verdicts", "opened_at"),
            *("outcome", "reason", "decided_by", "decided_at", "curation"),
        ]

    def get_verdicts(self, dispute: Dispute) -> list[int]:
        return [one.pk for one in dispute.assignment.verdicts.all() if one.round == dispute.round]


class DecisionRequestSerializer(serializers.Serializer):
    outcome = serializers.ChoiceField(choices=Verdict.Outcome.choices)
    reason = ReasonField(allow_blank=True, default="")


class OfDispute(filters.FilterSet):
    assignment = filters.NumberFilter()
    campaign = filters.NumberFilter(field_name="assignment__item__session__campaign")
    is_open = filters.BooleanFilter(method="waiting")

    def waiting(self, rows: DisputeQuerySet, name: str, value: bool) -> DisputeQuerySet:
        return rows.open() if value else rows.closed()


class DisputeViewSet(AboutAnnotations):
    """Rounds in which one verifier accepted what another returned, for those who may read what was judged."""

    scopes = {"decide": Scope.ANNOTATE}
    queryset = Dispute.objects.live().prefetch_related("assignment__verdicts")
    serializer_class = DisputeSerializer
    filterset_class = OfDispute

    @extend_schema(request=DecisionRequestSerializer, responses={200: DisputeSerializer} | UNREADY)
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Say which verdict stands; nobody who has a part in it can."""
        found = self.get_object()
        wanted = DecisionRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        with declined():
            verdicts.decide(found, signed_in(request), **wanted.validated_data)
        return Response(self.get_serializer(self.get_queryset().get(pk=found.pk)).data)


class BulkAcceptSerializer(serializers.ModelSerializer):
    """An act of accepting many items at once. `held_back`: how many items people verify as usual, `looked_at` and
    `returned` of them so far; `faulty`: an estimate of how many of the accepted ones are, with its 95 % interval."""

    held_back = serializers.SerializerMethodField()
    accepted = serializers.SerializerMethodField()
    looked_at = serializers.SerializerMethodField()
    returned = serializers.SerializerMethodField()
    faulty = serializers.SerializerMethodField()

    class Meta:
        model = BulkAccept
        fields = [
            *("id", "campaign", "user", "size", "share", "created_at"),
            *("held_back", "accepted", "looked_at", "returned", "faulty"),
        ]

    def to_representation(self, instance: BulkAccept) -> dict[str, Any]:
        self._tally = bulk.tally_of([instance])
        return super().to_representation(instance)

    def get_held_back(self, made: BulkAccept) -> list[int]:
        return [one.item_id for one in made.held_back.all()]

    def get_accepted(self, made: BulkAccept) -> int:
        return self._tally.accepted

    def get_looked_at(self, made: BulkAccept) -> int:
        return self._tally.looked_at

    def get_returned(self, made: BulkAccept) -> int:
        return self._tally.returned

    def get_faulty(self, made: BulkAccept) -> dict[str, float | None]:
        return self._tally.through._asdict()


class CheckedItemSerializer(serializers.Serializer):
    """An item that the user could verify now. `version`: of the rewrite; `concerns`: reasons against accepting it
    unseen, empty where every check is green."""

    item = serializers.IntegerField(source="item.pk")
    session = serializers.IntegerField(source="item.session_id")
    subject = serializers.IntegerField(source="subject.pk")
    version = serializers.IntegerField(source="subject.version")
    concerns = serializers.ListField(child=serializers.CharField())


class CampaignChecks(viewsets.GenericViewSet):
    """What the automatic checks of a campaign's verifications find."""

    @extend_schema(responses={200: CheckedItemSerializer(many=True)})
    @action(detail=True, pagination_class=None)
    def checks(self, request: Request, pk: str) -> Response:
        """The items that the user could verify now, with reasons against accepting each unseen; empty for those who may
        verify nothing."""
        found = bulk.checked(signed_in(request), self.get_object())
        return Response(CheckedItemSerializer(found, many=True).data)


class ChosenItemSerializer(serializers.Serializer):
    item = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    version = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


class BulkAcceptRequestSerializer(serializers.Serializer):
    """`items`: those to accept, with the version of the rewrite that was read. All of them are accepted, apart from a
    part that is held back; or none is."""

    campaign = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    items = serializers.ListField(child=ChosenItemSerializer(), allow_empty=False, max_length=bulk.MOST)


class BulkAcceptViewSet(ReadOnlyViewSet):
    """Verifications accepted at once because every check of them was green, and what people found in those that were
    held back."""

    scopes = {"create": Scope.ANNOTATE}
    queryset = BulkAccept.objects.prefetch_related(bulk.with_outcomes())
    serializer_class = BulkAcceptSerializer
    filterset_fields = ["campaign"]

    @extend_schema(
        request=BulkAcceptRequestSerializer,
        responses={201: BulkAcceptSerializer} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Accept several green items; a part of them, drawn at random, is held back for a second look."""
        wanted = BulkAcceptRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        campaign = self._campaign(request, wanted.validated_data["campaign"])
        chosen = {one["item"]: one["version"] for one in wanted.validated_data["items"]}

        def work() -> Response:
            made = bulk.accept(signed_in(request), campaign, chosen)
            told = self.queryset.get(pk=made.pk)
            return Response(self.get_serializer(told).data, status=status.HTTP_201_CREATED)

        with declined():
            return idempotency.once(request, work)

    def _campaign(self, request: Request, pk: int) -> Campaign:
        rows = rules.visible(signed_in(request), Campaign.objects.live().select_related("project"))
        found = rows.filter(pk=pk).first()
        if found is None:
            raise ValidationError({"campaign": ["It does not exist."]})
        rules.require(signed_in(request), "review", found.project)
        return found
