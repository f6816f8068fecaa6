"""Reviews over REST."""

from annotations.access.api_rules import ReadOnlyViewSet
from evaluation.models import Review
from evaluation.reviews.filters import ReviewFilter
from evaluation.reviews.serializers import ReviewSerializer


class ReviewViewSet(ReadOnlyViewSet):
    """What people say of what agents did."""

    queryset = Review.objects.standing().select_related("trajectory", "step", "reason", "reviewer")
    serializer_class = ReviewSerializer
    filterset_class = ReviewFilter
    gold_split = "trajectory__conversation__split"
    gold_project = "trajectory__run__dataset__project"
