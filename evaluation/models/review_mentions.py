"""Who is named in the comments of reviews."""

from django.conf import settings
from django.db import models

from annotations.models.work.remarks import MentionQuerySet, Named
from evaluation.models.reviews import Review


class ReviewMentionQuerySet(MentionQuerySet["ReviewMention"]):
    def follow(self, review: Review) -> None:
        """Name whom the review's comment names by now, and nobody else. Who was named before is not told again."""
        found = review.trajectory
        named = found.run.dataset.project.named_in(review.comment, found.conversation.split) if review.verdict else []
        people = [user for user in named if user.pk != review.reviewer_id]
        self.filter(review=review).exclude(user__in=people).delete()
        self.tell(people, review=review)


class ReviewMention(Named):
    """Somebody named in the comment of a review; it waits in their inbox until they have seen it."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="mentions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="review_mentions")

    objects = ReviewMentionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["review", "user"], name="named_once_in_a_review")]

    def __str__(self) -> str:
        return f"{self.user} in review {self.review_id}"
