"""Work that is ready to be verified: a submitted rewrite with its verification in somebody's hands."""

from typing import Any
from uuid import uuid4

from annotations.models import Assignment, Edit, Part, Session
from tests import factories

SAID = ("Find red shoes.", "Sort them by price.")


def make_rewrite(session: Session | None = None, texts: tuple[str, ...] = SAID, **fields: Any) -> Assignment:
    """A submitted rewrite with one part per text, cut every three steps; the rewrites say what the texts say."""
    session = session or factories.make_session(tasks=2, steps=3)
    item = session.items.filter(stage="rewrite").first() or factories.make_item(session, stage="rewrite", overlap=3)
    fields = {"state": "submitted", "slot": item.assignments.count()} | fields
    rewrite = factories.make_assignment(item, **fields)
    rewrite.parts.all().delete()
    add_parts(rewrite, texts)
    return rewrite


def add_parts(assignment: Assignment, texts: tuple[str, ...], every: int = 3) -> list[Part]:
    steps = list(assignment.item.session.steps())
    return [
        Part.objects.create(assignment=assignment, first_step=steps[place * every], instruction=text, rewrite=text)
        for place, text in enumerate(texts)
    ]


def make_verification(subject: Assignment | None = None, overlap: int = 1, **fields: Any) -> Assignment:
    """A verification of a rewrite (a new one if none is given) in a new reviewer's hands."""
    subject = subject or make_rewrite()
    session = subject.item.session
    item = session.items.filter(stage="verify", subject=subject).first()
    item = item or factories.make_item(session, stage="verify", subject=subject, overlap=overlap)
    user = fields.pop("user", None) or factories.make_user("reviewer", session.campaign.project)
    return factories.make_assignment(item, user, **{"slot": item.assignments.count()} | fields)


def make_edit(assignment: Assignment, kind: str, step: int, before: Any, after: Any, field: str = "") -> Edit:
    """An edit in the log; the parts are not touched."""
    assignment.version += 1
    assignment.save(update_fields=["version"])
    return Edit.objects.create(
        assignment=assignment,
        version=assignment.version,
        op_id=uuid4(),
        user=assignment.user,
        kind=kind,
        step_id=step,
        field=field,
        before=before,
        after=after,
    )
