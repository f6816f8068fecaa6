"""Comments on work: said, answered, resolved, put into the bin and taken out again; and whom they reach."""

from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from annotations.access import rules
from annotations.desk.put_right import ReturnedWork
from annotations.desk.write.document import readable
from annotations.models import Assignment, BadComment, Comment, Defect, Mention, Session, Stage, Step
from annotations.models.choices import MAX_REASON
from annotations.tell.events import emit


def visible(user: User) -> QuerySet[Comment]:
    """Comments that this user may see: not those on annotations that they may not see, nor on hidden test gold."""
    rows = rules.visible(user, Comment.objects.filter(session__deleted_at=None, session__campaign__deleted_at=None))
    rows = rules.gold_filter(user, rows, "session__split", "session__campaign__project")
    return rows.filter(Q(assignment=None) | Q(assignment__in=readable(user).order_by().values("pk")))


@transaction.atomic
def say(
    session: Session,
    author: User,
    text: str,
    *,
    assignment: Assignment | None = None,
    parent: Comment | None = None,
    step: Step | None = None,
    is_about_turn: bool = False,
    node_id: str = "",
    defect: Defect | None = None,
) -> Comment:
    """Store a comment and tell whom it reaches: members of the project that it names with @, the author of the
    comment it answers, the verifier whose defect it answers, and the author of the annotation it is about.

    An answer stands at the place of what it answers. Raises BadComment.
    """
    text = text.strip()
    if not text or len(text) > MAX_REASON:
        raise BadComment(f"A comment has 1 to {MAX_REASON:,} characters.")
    if defect is not None:
        if assignment is None:
            raise BadComment("A defect is answered in the annotation that was returned.")
        step, is_about_turn = ReturnedWork(assignment).place_of_answer(author, defect)
    if parent is not None:
        parent = parent.parent or parent  # one level deep
        if parent.session_id != session.pk or parent.deleted_at:
            raise BadComment("What it answers is not here any more.")
        assignment, step, is_about_turn, node_id = parent.assignment, parent.step, parent.is_about_turn, parent.node_id
    if step is not None and not session.steps().filter(pk=step.pk).exists():
        raise BadComment("The step is none of this session.")
    if (node_id or is_about_turn) and step is None:
        raise BadComment("An element or a part needs its step.")
    about = {"assignment": assignment, "parent": parent, "defect": defect}
    place = {"step": step, "is_about_turn": is_about_turn, "node_id": node_id}
    comment = Comment.objects.create(session=session, author=author, text=text, **about, **place)
    reached = {*session.campaign.project.named_in(text, session.split), comment.answers_person()} - {author}
    Mention.objects.tell((user for user in reached if isinstance(user, User)), comment=comment)
    emit(session.campaign.project, "comment.created", comment.facts())
    return comment


@transaction.atomic
def resolve(comment: Comment, user: User) -> None:
    """Close a thread; the second time does nothing."""
    if comment.resolve(user):
        emit(comment.session.campaign.project, "comment.resolved", comment.facts() | {"by": user.get_username()})


def place_url(comment: Comment, user: User, pages: dict[tuple, str] | None = None) -> str:
    """Where this user sees the place of a comment; "" where they have no page that shows it.

    `pages` is filled with the pages that were found, for callers with many comments.
    """
    pages = {} if pages is None else pages
    key = comment.session_id, comment.assignment_id
    if key not in pages:
        found = comment.annotation_for(user)
        name = "annotate-verify" if found is not None and found.item.stage == Stage.VERIFY else "annotate-item"
        pages[key] = "" if found is None else reverse(name, args=[found.pk])
    step = comment.step_id
    place = {"part": step} if comment.is_about_turn else {"step": step, "node": comment.node_id} if step else {}
    query = urlencode({name: value for name, value in place.items() if value} | {"comment": comment.pk})
    return f"{pages[key]}?{query}" if pages[key] else ""
