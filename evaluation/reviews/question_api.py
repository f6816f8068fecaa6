"""Questions to the team over REST, under the rules of the replay: asking, listing, withdrawing."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Trajectory
from annotations.access import idempotency
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.access.requests import OwnRowField, RequestSerializer
from annotations.corpus.serializers import UsernameField
from annotations.models import Scope
from annotations.models.choices import MAX_REASON
from evaluation.models import BadReview, ReviewTask
from evaluation.reviews import questions
from evaluation.reviews.deciding import require_may_review


class QuestionFilter(filters.FilterSet):
    study = filters.NumberFilter(field_name="queue__study")
    queue = filters.NumberFilter()
    trajectory = filters.NumberFilter()
    asked_by = filters.CharFilter(field_name="asked_by__username")
    answered = filters.BooleanFilter(field_name="answers", lookup_expr="gt", method="of_answered")

    class Meta:
        model = ReviewTask
        fields = ["queue"]

    def of_answered(self, rows: questions.ReviewTaskQuerySet, name: str, value: bool) -> questions.ReviewTaskQuerySet:
        return rows.answered(value)


class QuestionSerializer(serializers.ModelSerializer):
    """What somebody asks the reviewers about a step. Answers are what others say of the step from then on: they are
    among the reviews of its trajectory."""

    study = serializers.IntegerField(source="queue.study_id", read_only=True)
    seq = serializers.IntegerField(source="step.seq", read_only=True)
    asked_by = UsernameField(source="asked_by.username", default=None, read_only=True)
    answers = serializers.IntegerField(read_only=True, help_text="People who have judged the step since.")
    answered_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="The last of them.")

    class Meta:
        model = ReviewTask
        fields = [
            *("id", "queue", "study", "trajectory", "step", "seq", "question", "asked_by", "asked_at"),
            *("answers", "answered_at", "seen_at"),
        ]


class QuestionRequestSerializer(RequestSerializer):
    trajectory = OwnRowField(queryset=Trajectory.objects.select_related("run__dataset__project", "conversation"))
    seq = serializers.IntegerField(min_value=0, max_value=2**31 - 1, help_text="Of the step.")
    question = serializers.CharField(max_length=MAX_REASON)


class QuestionViewSet(ReadOnlyViewSet):
    """Questions to the team about steps; those over hidden gold are left out."""

    scopes = {"create": Scope.ANNOTATE, "withdraw": Scope.ANNOTATE, "seen": Scope.ANNOTATE}
    queryset = ReviewTask.objects.of_questions().order_by("id")
    serializer_class = QuestionSerializer
    filterset_class = QuestionFilter
    gold_split, gold_project = questions.GOLD

    @extend_schema(
        request=QuestionRequestSerializer, responses={201: QuestionSerializer}, parameters=[idempotency.PARAMETER]
    )
    def create(self, request: Request) -> Response:
        """Ask the reviewers about a step of a study's run. There is one question for each step: asked again, the words
        are the new ones, and who asked is whoever asked last."""
        wanted = QuestionRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        told = wanted.validated_data
        require_may_review(signed_in(request), told["trajectory"])

        def work() -> Response:
            try:
                asked = questions.TeamQuestion(told["seq"], told["question"])
                made = asked.ask(signed_in(request), told["trajectory"])
            except BadReview as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(self.get_serializer(self._found(made.pk)).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)

    @extend_schema(request=None, responses=QuestionSerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Take back a question of yours that nobody has answered; it is told once more."""
        return self._do(request, pk, ReviewTask.take_back)

    @extend_schema(request=None, responses=QuestionSerializer, parameters=[idempotency.PARAMETER])
    @action(detail=True, methods=["post"])
    def seen(self, request: Request, pk: str) -> Response:
        """Note that you have read the answers to a question of yours: the first page tells of them no more."""
        return self._do(request, pk, ReviewTask.see)

    def _found(self, pk: object) -> ReviewTask:
        return get_object_or_404(self.get_queryset(), pk=pk)

    def _do(self, request: Request, pk: str, act: Callable[[ReviewTask, User], None]) -> Response:
        def work() -> Response:
            found = self._found(pk)
            told = self.get_serializer(found).data
            try:
                act(found, signed_in(request))
            except BadReview as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(told if found.pk is None else self.get_serializer(found).data)

        return idempotency.once(request, work)
