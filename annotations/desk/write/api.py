"""Annotation by programs: claiming work, writing in it, handing it in, and proposals of other models.

The same functions under the same rules as the pages: a lease and its token, edits that are kept and merged.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.people import signed_in
from annotations.campaigns.propose import proposing
from annotations.campaigns.propose.foreign_proposals import GivenProposal
from annotations.campaigns.queue import claiming
from annotations.campaigns.queue.reasons import why_nothing
from annotations.desk import moving_on
from annotations.desk.put_right import ReturnedWork
from annotations.desk.write import opening
from annotations.desk.write.checks import doubts
from annotations.desk.write.document import answer, readable
from annotations.desk.write.opening import AboutAnnotations
from annotations.desk.write.refusals import declined
from annotations.edits import saving
from annotations.models import Assignment, Campaign, NotFree, Proposal, Scope, Stage, check_sure


class ClaimRequestSerializer(serializers.Serializer):
    campaign = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    stage = serializers.ChoiceField(choices=Stage.choices)


class LeaseSerializer(serializers.Serializer):
    """The right to write in an assignment: send `token` with every request that writes; take the lease again before
    `lease_until`."""

    assignment = serializers.IntegerField()
    item = serializers.IntegerField()
    session = serializers.IntegerField()
    stage = serializers.ChoiceField(choices=Stage.choices)
    version = serializers.IntegerField()
    token = serializers.UUIDField(allow_null=True)
    lease_until = serializers.DateTimeField(allow_null=True)
    holder = serializers.CharField(allow_null=True)


class EditsRequestSerializer(serializers.Serializer):
    """`base`: the version that was read. Edits are objects as the workbench sends them: {"op_id", "kind", "step",
    "field", "before", "after"} of the kinds cut, join, text and mentions; a known `op_id` is not made twice."""

    token = serializers.UUIDField()
    base = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    edits = serializers.ListField(child=serializers.DictField(), allow_empty=False)


class SavedSerializer(serializers.Serializer):
    """What became of each edit, the parts as they are now, and what others wrote after `base`. `clauses`: for each
    recorded task the clauses of its instruction, with the parts that ask for each."""

    version = serializers.IntegerField()
    results = serializers.ListField(child=serializers.DictField())
    parts = serializers.ListField(child=serializers.DictField())
    others = serializers.ListField(child=serializers.DictField())
    clauses = serializers.ListField(child=serializers.ListField(child=serializers.DictField()))
    warnings = serializers.ListField(child=serializers.DictField())
    undo = serializers.BooleanField()
    redo = serializers.BooleanField()
    saved_at = serializers.DateTimeField()


class HandInRequestSerializer(serializers.Serializer):
    """`base`: the version that the writer has read; a newer one is not handed in unseen. `sure`: hand a decomposition
    in although parts ask for a clause of the source not at all or more than once, or have garbled punctuation."""

    token = serializers.UUIDField()
    base = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    sure = serializers.BooleanField(default=False)


class TokenRequestSerializer(serializers.Serializer):
    token = serializers.UUIDField()


class StandingSerializer(serializers.ModelSerializer):
    """The state of an assignment: where its annotator and its verifiers stand."""

    class Meta:
        model = Assignment
        fields = ["id", "item", "state", "review", "round", "version"]


class FoundDefectSerializer(serializers.Serializer):
    """A defect; `step`: the first of its part, where it is about one; `answers`: why its writer said it is right."""

    id = serializers.IntegerField()
    code = serializers.CharField()
    question = serializers.CharField()
    note = serializers.CharField()
    step = serializers.IntegerField(allow_null=True)
    answers = serializers.ListField(child=serializers.CharField())
    is_open = serializers.BooleanField(help_text="Whether it is to be changed or answered in this annotation.")


class ReturnSerializer(serializers.Serializer):
    by = serializers.CharField()
    reason = serializers.CharField()
    defects = FoundDefectSerializer(many=True)


class ProposalSerializer(serializers.ModelSerializer):
    """A model's suggestion. `score`: how sure the model was; `provenance`: what it said of itself; `outcome`: what
    people did with the suggestion; `distance`: how far their result is from it."""

    content = serializers.DictField(read_only=True)
    provenance = serializers.DictField(read_only=True)

    class Meta:
        model = Proposal
        fields = [
            *("id", "campaign", "session", "assignment", "kind", "model_name", "score", "provenance", "content"),
            *("outcome", "distance", "created_at", "decided_at"),
        ]


class ProposalRequestSerializer(serializers.Serializer):
    """Parts of cuts are {"step", "instruction", "why": [...]}, those of rewrites {"step", "rewrite", "mentions"}."""

    assignment = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    kind = serializers.ChoiceField(choices=[(kind, kind.label) for kind in proposing.STAGES])
    model_name = serializers.CharField(max_length=200)
    score = serializers.FloatField(min_value=0, max_value=1, required=False, allow_null=True, default=None)
    provenance = serializers.DictField(default=dict)
    parts = serializers.ListField(child=serializers.DictField(), allow_empty=False, max_length=500)


class ClashSerializer(serializers.Serializer):
    detail = serializers.CharField()


CLASH = {409: ClashSerializer}
UNREADY = {409: ClashSerializer, 422: ClashSerializer}


class AssignmentActions(viewsets.GenericViewSet):
    """What the holder of an assignment, or a program in their name, does with it."""

    scopes = dict.fromkeys(("claim", "take", "edits", "submit", "give_back"), Scope.ANNOTATE)

    def _lease(self, request: Request, pk: int) -> Response:
        """Answer 201 with the lease: the user's own live one made longer, else a new one."""
        user = signed_in(request)
        taken = opening.to_take(user, pk).take(user)
        item = taken.item
        where = {"assignment": taken.pk, "item": item.pk, "session": item.session_id, "stage": item.stage}
        told_to = {"version": taken.version} | taken.lease_told_to(user)
        return Response(LeaseSerializer(where | told_to).data, status=status.HTTP_201_CREATED)

    def standing(self, pk: int) -> Response:
        return Response(StandingSerializer(Assignment.objects.get(pk=pk)).data)

    def asked_in(self, request: Request, kind: type[serializers.Serializer]) -> dict[str, Any]:
        wanted = kind(data=request.data)
        wanted.is_valid(raise_exception=True)
        return wanted.validated_data

    @extend_schema(
        request=ClaimRequestSerializer,
        responses={201: LeaseSerializer} | CLASH,
        parameters=[idempotency.PARAMETER],
    )
    @action(detail=False, methods=["post"])
    def claim(self, request: Request) -> Response:
        """Claim the next item of a campaign's stage: returned work first, then what was begun, then a free one."""
        asked = self.asked_in(request, ClaimRequestSerializer)

        def work() -> Response:
            user = signed_in(request)
            campaign = rules.visible(user, Campaign.objects.live()).filter(pk=asked["campaign"]).first()
            if campaign is None:
                raise ValidationError({"campaign": ["It does not exist."]})
            rules.require(user, Stage(asked["stage"]).ability, campaign.project)
            found = claiming.next_item(user, campaign, asked["stage"])
            if found is None:
                raise NotFree(why_nothing(user, campaign, asked["stage"]))
            return self._lease(request, found.pk)

        with declined():
            return idempotency.once(request, work)

    @extend_schema(request=None, responses={201: LeaseSerializer} | CLASH)
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Take the lease of an assignment: one's own, or somebody else's that has run out."""
        found = self.get_object()
        with declined():
            return self._lease(request, found.pk)

    @extend_schema(request=EditsRequestSerializer, responses={200: SavedSerializer} | CLASH)
    @action(detail=True, methods=["post"])
    def edits(self, request: Request, pk: str) -> Response:
        """Make edits, each once, merged with what others wrote meanwhile."""

        def work(assignment: Assignment, asked: dict[str, Any]) -> Response:
            saved = saving.save(assignment, signed_in(request), asked["token"], asked["base"], asked["edits"])
            return Response(SavedSerializer(answer(saved)).data)

        return self._written(request, EditsRequestSerializer, work)

    @extend_schema(request=HandInRequestSerializer, responses={200: StandingSerializer} | UNREADY)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Hand an annotation in. 422 says what is left to do, or what is doubtful, which `sure` hands in all the
        same."""

        def work(assignment: Assignment, asked: dict[str, Any]) -> Response:
            assignment.check_unchanged(signed_in(request), asked["token"], asked["base"])
            if not assignment.missing():  # what is missing is refused, sure or not
                check_sure(doubts(saving.open_desk(assignment, signed_in(request))), sure=asked["sure"])
            moving_on.submit(assignment)
            return self.standing(assignment.pk)

        return self._written(request, HandInRequestSerializer, work)

    @extend_schema(responses=ReturnSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_class=None)
    def returns(self, request: Request, pk: str) -> Response:
        """Why an annotation was returned. Each defect that is open has to be changed at its place, or answered by a
        comment (`comments/`), before it is handed in again."""
        found = opening.to_read(request.user, self.get_object().pk)
        is_open = ReturnedWork(found).open_defects()
        told = [
            one
            | {
                "by": one["by"].get_username(),
                "defects": [
                    row | {"answers": [said.text for said in row["answers"]], "is_open": row["id"] in is_open}
                    for row in one["defects"]
                ],
            }
            for one in found.returns()
        ]
        return Response(ReturnSerializer(told, many=True).data)

    @extend_schema(request=TokenRequestSerializer, responses={200: StandingSerializer} | CLASH)
    @action(detail=True, methods=["post"], url_path="give-back")
    def give_back(self, request: Request, pk: str) -> Response:
        """Give an assignment back, so that somebody else can have it."""

        def work(assignment: Assignment, asked: dict[str, Any]) -> Response:
            assignment.check_lease(signed_in(request), asked["token"])
            assignment.give_back()
            return self.standing(assignment.pk)

        return self._written(request, TokenRequestSerializer, work)

    def _written(
        self,
        request: Request,
        kind: type[serializers.Serializer],
        work: Callable[[Assignment, dict[str, Any]], Response],
    ) -> Response:
        found = self.get_object()
        asked = self.asked_in(request, kind)
        with declined(), transaction.atomic():
            return work(opening.locked(request.user, found.pk), asked)


class OfProposal(filters.FilterSet):
    campaign = filters.NumberFilter()
    assignment = filters.NumberFilter()
    kind = filters.ChoiceFilter(choices=Proposal.Kind.choices)


class ProposalViewSet(AboutAnnotations):
    """What models suggested for annotations, and what became of it."""

    scopes = {"create": Scope.ANNOTATE}
    queryset = Proposal.objects.filter(assignment__isnull=False).select_related("assignment")
    serializer_class = ProposalSerializer
    filterset_class = OfProposal

    @extend_schema(
        request=ProposalRequestSerializer,
        responses={201: ProposalSerializer} | UNREADY,
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Give an annotation under way a proposal made elsewhere; its writer decides. It replaces one of the same kind
        that nobody has used."""
        wanted = ProposalRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = dict(wanted.validated_data)
        named = asked.pop("assignment")

        def work() -> Response:
            rows = readable(request.user, Assignment.objects.select_related(*opening.RELATED))
            assignment = rows.filter(pk=named).first()
            if assignment is None:
                raise ValidationError({"assignment": ["It does not exist."]})
            opening.check_gold(request.user, assignment)
            project = assignment.item.session.campaign.project
            if assignment.user_id != request.user.pk and not rules.can(signed_in(request), "manage", project):
                raise PermissionDenied("Only who does an item, or manages its project, gives it proposals.")
            made = GivenProposal(**asked).keep_for(assignment)
            return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

        with declined():
            try:
                return idempotency.once(request, work)
            except proposing.UnusableProposal as error:  # what was done under the key is rolled back
                error.count()
                raise
