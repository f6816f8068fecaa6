"""The inbox: what names people, of every kind of remark. Higher apps add their kinds to `SOURCES`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, QuerySet, Value

from annotations.desk.discuss import comments
from annotations.models import Mention
from annotations.models.work.remarks import MentionQuerySet


class Mail(NamedTuple):
    """A remark that names somebody, as their inbox shows it. `kind` and `about`: which remark, for marking it read."""

    kind: str
    about: int
    author: str
    place: str
    text: str
    at: datetime
    url: str  # "" where they have no page that shows it
    is_resolved: bool
    is_read: bool


@dataclass(frozen=True)
class MailSource:
    """One kind of remark that names people. Its mentions have a field of that name."""

    kind: str
    at: str  # when the remark was made: a field of the mention
    mentions: Callable[[User], MentionQuerySet[Any]]  # those of the user that they may read
    mails: Callable[[User, Sequence[int]], dict[int, Mail]]  # by key of the mention

    def unread(self, user: User) -> MentionQuerySet[Any]:
        return self.mentions(user).filter(seen_at=None)


def _mentions(user: User) -> MentionQuerySet[Mention]:
    shown = comments.visible(user).filter(deleted_at=None).order_by()
    return Mention.objects.filter(user=user, comment__in=shown)


def _mails(user: User, keys: Sequence[int]) -> dict[int, Mail]:
    related = ("author", "resolved_by", "step", "session__campaign__project", "assignment__item", "parent")
    pages: dict[tuple, str] = {}
    rows = Mention.objects.filter(pk__in=keys).select_related(*(f"comment__{name}" for name in related))
    return {
        row.pk: Mail(
            kind=COMMENT.kind,
            about=row.comment_id,
            author=row.comment.author.get_username(),
            place=f"{row.comment.session.campaign.name} / {row.comment.session.name}",
            text=row.comment.text,
            at=row.comment.created_at,
            url=comments.place_url(row.comment, user, pages),
            is_resolved=row.comment.resolved_at is not None,
            is_read=row.seen_at is not None,
        )
        for row in rows
    }


COMMENT = MailSource("comment", "comment__created_at", _mentions, _mails)
SOURCES = {COMMENT.kind: COMMENT}


def rows_for(user: User) -> QuerySet[Any]:
    """All that names the user, unread first, then the newest: {kind, key of the mention, seen_at, said_at}."""
    first, *others = (
        source.mentions(user)
        .order_by()
        .annotate(kind=Value(source.kind), key=F("pk"), said_at=F(source.at))
        .values("kind", "key", "seen_at", "said_at")
        for source in SOURCES.values()
    )
    return first.union(*others, all=True).order_by(F("seen_at").desc(nulls_first=True), "-said_at", "-key")


def opened(user: User, rows: Sequence[dict[str, Any]]) -> list[Mail]:
    """The mail of these rows of `rows_for`, in order."""
    found = {
        kind: source.mails(user, [row["key"] for row in rows if row["kind"] == kind])
        for kind, source in SOURCES.items()
    }
    return [found[row["kind"]][row["key"]] for row in rows if row["key"] in found[row["kind"]]]


def count_unread(user: User) -> int:
    return sum(source.unread(user).count() for source in SOURCES.values())


def mark_read(user: User, chosen: dict[str, int]) -> None:
    """Mark as read the remark of each of these kinds with this key; without any, all."""
    for kind, source in SOURCES.items():
        if not chosen:
            source.unread(user).see()
        elif kind in chosen:
            source.unread(user).filter(**{kind: chosen[kind]}).see()
