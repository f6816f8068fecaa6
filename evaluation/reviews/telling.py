"""Reviews whose comments name somebody, in the inbox of whom they name."""

from collections.abc import Sequence

from django.contrib.auth.models import User

from annotations.access import rules
from annotations.desk.discuss.mail import Mail, MailSource
from evaluation.models import Review, ReviewMention
from evaluation.models.review_mentions import ReviewMentionQuerySet

PLACE = "review__trajectory"


def _mentions(user: User) -> ReviewMentionQuerySet:
    """Those in reviews that stand, where the user may see the gold, which reviews tell."""
    rows = rules.visible(user, ReviewMention.objects.filter(user=user, review__in=Review.objects.standing().order_by()))
    return rules.gold_filter(user, rows, f"{PLACE}__conversation__split", f"{PLACE}__run__dataset__project")


def _mails(user: User, keys: Sequence[int]) -> dict[int, Mail]:
    rows = ReviewMention.objects.filter(pk__in=keys).defer("review__step__trace")
    related = ("review__reviewer", "review__step", f"{PLACE}__run__dataset", f"{PLACE}__conversation")
    return {
        row.pk: Mail(
            kind=REVIEW.kind,
            about=row.review_id,
            author=row.review.reviewer.get_username(),
            place=row.review.place_name,
            text=f"{row.review.get_verdict_display()}: {row.review.comment}",
            at=row.review.changed_at,
            url=row.review.url,
            is_resolved=False,
            is_read=row.seen_at is not None,
        )
        for row in rows.select_related(*related)
    }


def unread_in(user: User, pk: int) -> set[int]:
    """The keys of a trajectory's reviews that name the user, who has not read them yet."""
    return set(REVIEW.unread(user).filter(review__trajectory=pk).values_list("review", flat=True))


REVIEW = MailSource("review", "review__changed_at", _mentions, _mails)
