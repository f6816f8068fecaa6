"""Corrections of steps and turns over REST, under the rules of their pages: who asks, who proposes, who decides."""

from collections.abc import Callable
from typing import Any, ClassVar

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import OwnRowField, ReasonField, RequestSerializer
from annotations.corpus.correct.correcting import DOES, MAX_VALUE, CorrectionDesk, carry_out, require_may_ask
from annotations.corpus.correct.rewording import MAX_INSTRUCTION, WordingDesk
from annotations.corpus.serializers import UsernameField
from annotations.models import Correction, CorrectionRefused, Operation, Scope, Step, TurnCorrection, Unsure
from annotations.models.work.corrections import Corrected

SAID = [
    *("id", "conversation", "state", "reason", "asked_by", "asked_at", "corrected_by", "corrected_at"),
    *("before", "decided_by", "decided_at", "note", "account"),
]


class CorrectionConflict(APIException):
    """What stands in the way of a correction, such as a decision that was made meanwhile."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "refused"


class CorrectionUnsure(APIException):
    """What is asked about once."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "unsure"


class RefusedSerializer(serializers.Serializer):
    detail = serializers.CharField()


class CorrectedSerializer(serializers.ModelSerializer):
    conversation = serializers.IntegerField(source="conversation.pk", read_only=True)
    asked_by = UsernameField(source="asked_by.username", read_only=True)
    corrected_by = UsernameField(source="corrected_by.username", default=None, read_only=True)
    decided_by = UsernameField(source="decided_by.username", default=None, read_only=True)
    account = serializers.CharField(read_only=True, help_text="Who did what with it and why, as a sentence.")


class CorrectionSerializer(CorrectedSerializer):
    """A step whose gold is said to be wrong; `operation`, `value` and `node_id`: what is proposed instead."""

    class Meta:
        model = Correction
        fields = [*SAID, "step", "suggested", "operation", "value", "node_id", "is_counted"]


class TurnCorrectionSerializer(CorrectedSerializer):
    """A turn whose wording or cut is said to be wrong; `instruction`, `first_step`: what is proposed instead."""

    class Meta:
        model = TurnCorrection
        fields = [*SAID, "turn", "instruction", "first_step"]


class AskSerializer(RequestSerializer):
    """What is wrong at a step, or with the turn that it belongs to."""

    step = OwnRowField(queryset=Step.objects.select_related("turn__conversation__dataset__project"))
    reason = ReasonField(help_text="Why it is wrong.")


class NewGoldSerializer(RequestSerializer):
    operation = serializers.ChoiceField(choices=Operation.choices)
    value = serializers.CharField(max_length=MAX_VALUE, allow_blank=True, default="", trim_whitespace=False)
    node_id = serializers.CharField(max_length=64, help_text="An element of the page.")


class NewWordingSerializer(RequestSerializer):
    instruction = serializers.CharField(max_length=MAX_INSTRUCTION)
    first_step = serializers.IntegerField(
        min_value=1, allow_null=True, default=None, help_text="Where the turn begins; null: where it does."
    )

    def validate_first_step(self, value: int | None) -> str:
        """The step's id as text, as `WordingDesk.propose` takes it from forms; "" for none."""
        return "" if value is None else str(value)

    sure = serializers.BooleanField(default=False, help_text="Propose it though its words are doubtful.")


class NoteSerializer(RequestSerializer):
    note = ReasonField(allow_blank=True, default="")


class AcceptWordingSerializer(NoteSerializer):
    sure = serializers.BooleanField(default=False, help_text="Accept it though its words are doubtful.")


class OfCorrection(filters.FilterSet):
    state = filters.ChoiceFilter(choices=Corrected.State.choices)
    step = filters.NumberFilter()
    conversation = filters.NumberFilter(field_name="step__turn__conversation")
    dataset = filters.NumberFilter(field_name="step__turn__conversation__dataset")


class OfTurnCorrection(filters.FilterSet):
    state = filters.ChoiceFilter(choices=Corrected.State.choices)
    turn = filters.NumberFilter()
    conversation = filters.NumberFilter(field_name="turn__conversation")
    dataset = filters.NumberFilter(field_name="turn__conversation__dataset")


class CorrectedActions(ReadOnlyViewSet):
    """The endpoints of corrections. Nobody accepts or refuses their own proposal; a correction that is decided already
    is answered 409."""

    scopes = dict.fromkeys(("create", "propose", "accept", "refuse", "dismiss"), Scope.ANNOTATE)
    desk: ClassVar[type[CorrectionDesk] | type[WordingDesk]]
    proposal: ClassVar[type[RequestSerializer]]
    acceptance: ClassVar[type[RequestSerializer]] = NoteSerializer

    def _asked(self, step: Step, reason: str) -> Corrected:
        raise NotImplementedError

    def create(self, request: Request) -> Response:
        """Say that it is wrong. Where a correction is under way already, the reason is added to it."""
        wanted = AskSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        step = wanted.validated_data["step"]
        require_may_ask(signed_in(request), step)

        def work() -> Response:
            made = self._asked(step, " ".join(wanted.validated_data["reason"].split()))
            return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)

    @action(detail=True, methods=["post"])
    def propose(self, request: Request, pk: str) -> Response:
        """Say what is right instead; somebody else verifies it."""
        return self._done("propose", self.proposal)

    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """Accept what is proposed: the data are changed, the next release has it, and scores follow."""
        return self._done("accept", self.acceptance)

    @action(detail=True, methods=["post"])
    def refuse(self, request: Request, pk: str) -> Response:
        """Refuse what is proposed: somebody proposes something else."""
        return self._done("refuse", NoteSerializer)

    @action(detail=True, methods=["post"])
    def dismiss(self, request: Request, pk: str) -> Response:
        """Close the correction without a change: it is right as recorded."""
        return self._done("dismiss", NoteSerializer)

    def _done(self, what: str, asked: type[RequestSerializer]) -> Response:
        found = self.get_object()
        rules.require(signed_in(self.request), DOES[what], found.conversation.dataset.project)
        wanted = asked(data=self.request.data)
        wanted.is_valid(raise_exception=True)
        try:
            carry_out(self.desk(found), what, signed_in(self.request), wanted.validated_data)
        except Unsure as error:
            raise CorrectionUnsure(str(error)) from error
        except CorrectionRefused as error:
            if error.field:
                raise serializers.ValidationError({error.field: [str(error)]}) from error
            raise CorrectionConflict(str(error)) from error
        return Response(self.get_serializer(self.get_queryset().get(pk=found.pk)).data)


def _schema_of_actions(
    row: type[CorrectedSerializer], proposal: type[RequestSerializer], acceptance: type[RequestSerializer]
) -> Callable[[Any], Any]:
    """Describe the actions of a viewset of corrections for the API schema."""
    responses = {200: row, 409: RefusedSerializer}
    decided = extend_schema(request=NoteSerializer, responses=responses)
    return extend_schema_view(
        create=extend_schema(request=AskSerializer, responses={201: row}, parameters=[idempotency.PARAMETER]),
        propose=extend_schema(request=proposal, responses=responses),
        accept=extend_schema(request=acceptance, responses=responses),
        refuse=decided,
        dismiss=decided,
    )


@_schema_of_actions(CorrectionSerializer, NewGoldSerializer, NoteSerializer)
class CorrectionViewSet(CorrectedActions):
    """Recorded actions that somebody found wrong; those of test splits are left out where their gold is hidden. A
    proposal that makes no sense on the recorded page is refused at its field: TYPE or SELECT without a value, SELECT of
    an option or of what the list has not, TYPE into what takes no text."""

    queryset = (
        Correction.objects.with_people()
        .select_related("step__turn__conversation__dataset__project")
        .defer("step__candidates")
    )
    serializer_class = CorrectionSerializer
    filterset_class = OfCorrection
    gold_split = "step__turn__conversation__split"
    gold_project = "step__turn__conversation__dataset__project"
    desk, proposal = CorrectionDesk, NewGoldSerializer

    def _asked(self, step: Step, reason: str) -> Correction:
        return Correction.objects.ask(step, signed_in(self.request), reason)


@_schema_of_actions(TurnCorrectionSerializer, NewWordingSerializer, AcceptWordingSerializer)
class TurnCorrectionViewSet(CorrectedActions):
    """Turns that somebody found worded wrongly or beginning at a wrong step. Words that no turn and no step says are
    asked about once by who proposes and who accepts: 422, until `sure` is sent."""

    queryset = (
        TurnCorrection.objects.with_people()
        .select_related("first_step", "turn__conversation__dataset__project")
        .defer("first_step__candidates")
    )
    serializer_class = TurnCorrectionSerializer
    filterset_class = OfTurnCorrection
    gold_split = "turn__conversation__split"
    gold_project = "turn__conversation__dataset__project"
    desk, proposal, acceptance = WordingDesk, NewWordingSerializer, AcceptWordingSerializer

    def _asked(self, step: Step, reason: str) -> TurnCorrection:
        return TurnCorrection.objects.ask(step.turn, signed_in(self.request), reason)
