"""How work moves on: from a session to its decomposition, its rewrite, its verification, into the target dataset.

Every function is one transaction. Rows are locked in one order, an assignment before its item, so that none waits
for the other.
"""

from django.db import transaction

from annotations.models import Assignment, Item, NotReady, Session, Stage
from annotations.work.desk.edits.saving import fix_mentions
from annotations.work.desk.propose.proposing import settle
from annotations.work.desk.tell.events import emit
from annotations.work.release.publishing import publish


@transaction.atomic
def open_work(session: Session) -> Item:
    """The decomposition of a session, opened if it was not yet. NotReady for a session without steps."""
    if not session.steps().exists():
        raise NotReady([f"{session} has no steps: put tasks into it first."])
    return _open(session, Stage.DECOMPOSE, session.campaign.overlap)


@transaction.atomic
def submit(assignment: Assignment) -> None:
    """Hand an annotation in; the last one of its item opens what comes next. `assignment` is read again, locked.

    NotReady when parts are incomplete, or when it is not under way.
    """
    item = assignment.lock()
    if assignment.state not in Assignment.UNFINISHED:
        raise NotReady(
            ["It was submitted already." if assignment.state == Assignment.State.SUBMITTED else "It was given back."]
        )
    if problems := assignment.missing():
        raise NotReady(problems)
    fix_mentions(assignment)
    settle(assignment)
    assignment.hand_in()
    _tell("item.submitted", assignment)
    if item.stage == Stage.REWRITE and not item.session.is_gold:
        _open_verification(assignment)
    if (
        item.state == Item.State.OPEN
        and item.assignments.filter(state=Assignment.State.SUBMITTED).count() >= item.overlap
    ):
        # A rewrite is done when one of its annotations has passed; that of a gold item is compared, not verified.
        done = item.stage != Stage.REWRITE or item.session.is_gold
        item.move_to(Item.State.DONE if done else Item.State.SUBMITTED)
        if item.stage == Stage.DECOMPOSE:
            _open(item.session, Stage.REWRITE, item.session.campaign.overlap)


@transaction.atomic
def passed(subject: Assignment) -> None:
    """The verifiers accept an annotation. The first of a session becomes a conversation of the target dataset."""
    item = subject.lock()
    subject.pass_()
    session = (
        Session.objects.select_for_update(of=("self",)).select_related("campaign", "website").get(pk=item.session_id)
    )
    if session.released_id is None and not session.is_gold:
        session.released = publish(session, subject)
        session.save(update_fields=["released"])
    item.move_to(Item.State.DONE)
    _tell("item.passed", subject)


@transaction.atomic
def returned(subject: Assignment) -> None:
    """The verifiers send an annotation back: its author goes on with it in a new round."""
    item = subject.lock()
    subject.return_()
    if item.session.released_id is None:
        item.move_to(Item.State.OPEN)
    _tell("item.returned", subject)


def _open(session: Session, stage: str, overlap: int, subject: Assignment | None = None) -> Item:
    item, made = Item.objects.get_or_create(
        session=session, stage=stage, subject=subject, defaults={"overlap": overlap}
    )
    if made:
        emit(session.campaign.project, "item.opened", item.facts())
    return item


def _open_verification(subject: Assignment) -> None:
    """Open the verification of a rewrite, or after a return open it again for the same verifiers."""
    item = _open(subject.item.session, Stage.VERIFY, subject.item.session.campaign.verify_overlap, subject)
    if subject.round > 1:
        Item.objects.filter(pk=item.pk).update(state=Item.State.OPEN, finished_at=None)
        item.assignments.filter(state=Assignment.State.SUBMITTED).update(
            state=Assignment.State.ASSIGNED, round=subject.round
        )


def _tell(event: str, assignment: Assignment) -> None:
    item = assignment.item
    facts = {"assignment": assignment.pk, "user": assignment.user.get_username(), "round": assignment.round}
    emit(item.session.campaign.project, event, item.facts() | facts)
