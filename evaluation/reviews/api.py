"""Reviews and their queues over REST, under the rules of their pages."""

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.access import idempotency, rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.access.people import signed_in
from annotations.models import Scope
from evaluation.models import BadReview, Review, ReviewQueue
from evaluation.reviews import deciding, serializers
from evaluation.reviews.choosing import QueueDemand
from evaluation.reviews.estimating import estimate, run_rates
from evaluation.reviews.filters import ReviewFilter, ReviewQueueFilter


class ReviewViewSet(ReadOnlyViewSet):
    """Reviews: what people say of what agents did."""

    scopes = {"create": Scope.ANNOTATE}
    queryset = Review.objects.standing().select_related("trajectory", "step", "reason", "reviewer")
    serializer_class = serializers.ReviewSerializer
    filterset_class = ReviewFilter
    gold_split = "trajectory__conversation__split"
    gold_project = "trajectory__run__dataset__project"

    @extend_schema(
        request=serializers.ReviewRequestSerializer,
        responses={201: serializers.ReviewSerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Say who was wrong at a step, or in a whole trajectory. Each person has one review of each: a new verdict
        replaces their earlier one, and the same verdict again changes nothing."""
        wanted = serializers.ReviewRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)
        found, user = wanted.validated_data["trajectory"], signed_in(request)
        deciding.require_may_review(user, found)

        def work() -> Response:
            try:
                given = deciding.give_review(user, found, wanted.said())
            except BadReview as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(self.get_serializer(given).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)

    @extend_schema(
        parameters=[serializers.ReasonsOfSerializer],
        responses=serializers.ReviewReasonSerializer(many=True),
        filters=False,
    )
    @action(detail=False, pagination_class=None)
    def reasons(self, request: Request) -> Response:
        """A project's list of reasons, for those who review."""
        asked = serializers.ReasonsOfSerializer(data=request.query_params, context=self.get_serializer_context())
        asked.is_valid(raise_exception=True)
        project = asked.validated_data["project"]
        if not rules.can(signed_in(request), "review", project):
            raise PermissionDenied("Reasons of reviews are for reviewers and admins of the project.")
        rows = deciding.reasons_for(signed_in(request), project)
        return Response(serializers.ReviewReasonSerializer(rows, many=True).data)


class ReviewQueueViewSet(ReadOnlyViewSet):
    """Steps, or whole trajectories, that people are asked to judge; queues over hidden gold are left out."""

    queryset = ReviewQueue.objects.select_related("project", "created_by").with_size().order_by("id")
    serializer_class = serializers.ReviewQueueSerializer
    filterset_class = ReviewQueueFilter

    def get_queryset(self) -> QuerySet[ReviewQueue]:
        """The queues that the user may see. Other actions than list and detail find all queues, and refuse with the
        reason."""
        rows = super().get_queryset()
        is_shown = self.action in ("list", "retrieve")
        return rows.filter(pk__in=deciding.queues_for(signed_in(self.request))) if is_shown else rows

    @extend_schema(
        request=serializers.ReviewQueueRequestSerializer,
        responses={201: serializers.ReviewQueueSerializer},
        parameters=[idempotency.PARAMETER],
    )
    def create(self, request: Request) -> Response:
        """Ask people to judge steps of a study, or whole trajectories."""
        wanted = serializers.ReviewQueueRequestSerializer(data=request.data, context=self.get_serializer_context())
        wanted.is_valid(raise_exception=True)

        def work() -> Response:
            try:
                asked = dict(wanted.validated_data)
                made = deciding.ask_for_reviews(signed_in(request), asked.pop("study"), QueueDemand(**asked))
            except ValueError as error:
                raise ValidationError({"detail": str(error)}) from error
            return Response(self.get_serializer(self.queryset.get(pk=made.pk)).data, status=status.HTTP_201_CREATED)

        return idempotency.once(request, work)

    def _opened(self) -> ReviewQueue:
        found: ReviewQueue = self.get_object()
        deciding.require_may_open(signed_in(self.request), found)
        return found

    @extend_schema(responses=serializers.QueueProgressSerializer, filters=False)
    @action(detail=True)
    def progress(self, request: Request, pk: str) -> Response:
        """How much is judged, and how much is left for you."""
        told = deciding.progress_for(signed_in(request), self._opened())
        return Response(serializers.QueueProgressSerializer(told).data)

    @extend_schema(responses=serializers.NextAskedSerializer, filters=False)
    @action(detail=True)
    def next(self, request: Request, pk: str) -> Response:
        """What you are asked to judge next: a step, or (`seq` null) a whole trajectory."""
        found = deciding.next_asked(signed_in(request), self._opened())
        return Response(serializers.NextAskedSerializer({"next": found}).data)

    @extend_schema(responses=serializers.QueueAgreementSerializer, filters=False)
    @action(detail=True)
    def agreement(self, request: Request, pk: str) -> Response:
        """What the verdicts say of recorded gold or reward, of how well it judges, and of the true success rate."""
        queue = self._opened()
        found = estimate(queue)
        told = vars(found) | {"runs": run_rates(found.calibration, queue)}
        return Response(serializers.QueueAgreementSerializer(told).data)
