"""Moves work on: from a session to its decomposition, its rewrite, its verification, into the target dataset.

Every function is one transaction. Rows are locked in one order, an assignment before its item, so that none waits for
the other.
"""

from django.db import transaction

from annotations.campaigns.propose.proposing import Proposing, judge
from annotations.desk.put_right import ReturnedWork
from annotations.edits.saving import fix_mentions, open_desk
from annotations.models import Assignment, Defect, Dispute, Item, NotReady, SentBack, Session, Stage, Verdict
from annotations.models.accounts.projects import Account
from annotations.tell.events import emit
from annotations.work.release.publishing import publish
from annotations.work.rewrite.carrying import carried


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
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotReady(["It was submitted already."])
    if assignment.state not in Assignment.UNFINISHED:
        raise NotReady([assignment.why_not_writable()])
    if problems := assignment.missing():
        raise NotReady(problems)
    ReturnedWork(assignment).check()
    fix_mentions(assignment)
    Proposing(assignment).settle()
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
    if item.stage == Stage.DECOMPOSE:
        for rewrite in assignment.sent_back.mend():
            Mending(rewrite).take_up(assignment)


@transaction.atomic
def passed(subject: Assignment) -> None:
    """An annotation is accepted, by its verifiers or as one that was made of two. The first rewrite of a session
    becomes a conversation of the target dataset."""
    item = subject.lock()
    subject.pass_()
    if item.stage == Stage.REWRITE:
        judge(item.session.proposals.unjudged(), subject, passed=True)
        sessions = Session.objects.select_for_update(of=("self",)).select_related("campaign", "website")
        session = sessions.get(pk=item.session_id)
        if session.released_id is None and not session.is_gold:
            session.keep_released(publish(session, subject))
    item.move_to(Item.State.DONE)
    _tell("item.passed", subject)


@transaction.atomic
def returned(subject: Assignment) -> None:
    """The verifiers send an annotation back: its author goes on with it in a new round. Where its cuts were found
    wrong, the author of those mends them first."""
    item = subject.lock()
    verdicts = subject.verdicts.filter(round=subject.round, outcome=Verdict.Outcome.RETURN)
    codes = item.session.campaign.codes_of(Stage.DECOMPOSE)
    named = Defect.objects.filter(verdict__in=verdicts, code__in=codes).values("verdict")
    about_cuts = list(verdicts.filter(pk__in=named).select_related("verification__user"))
    judge(item.session.proposals.unjudged(), subject, passed=False, about_cuts=bool(about_cuts))
    subject.send_to_author()
    _tell("item.returned", subject)
    for verdict in about_cuts:
        Mending(subject).send_back(verdict.verification.user, verdict.reason, verdict)


class RoundEnd:
    """The end of a round of verification: what happens to an annotation once its verifiers have judged it."""

    def __init__(self, verification: Item, subject: Assignment) -> None:
        self.verification, self.subject = verification, subject

    @transaction.atomic
    def look(self) -> None:
        """Act once all verifiers have given their verdicts; where they differ, open a dispute, which a further person
        decides."""
        outcomes = self.verification.outcomes(self.subject.round)
        if len(outcomes) == 1:
            self.settle(*outcomes)
        elif outcomes:
            self.verification.move_to(Item.State.SUBMITTED)
            Dispute.objects.create(assignment=self.subject, round=self.subject.round)
            _tell("item.disputed", self.subject)

    @transaction.atomic
    def settle(self, outcome: str) -> None:
        """Pass or return the annotation, by the outcome of the round."""
        is_passed = outcome == Verdict.Outcome.ACCEPT
        self.verification.move_to(Item.State.DONE if is_passed else Item.State.SUBMITTED)  # a new round opens it again
        (passed if is_passed else returned)(self.subject)


class Mending:
    """Sends the cuts of a rewrite back to whoever made them, and gives the rewrite the mended ones."""

    def __init__(self, rewrite: Assignment) -> None:
        self.rewrite = rewrite

    @transaction.atomic
    def ask(self, sender: Account, reason: str) -> None:
        """Send the cuts under a locked rewrite back because its writer says so. NotReady without a reason, or where
        nobody here made them."""
        if self.rewrite.item.stage != Stage.REWRITE or self.rewrite.state not in Assignment.UNFINISHED:
            raise NotReady(["Only who rewrites sends cuts back."])
        if not reason.strip():
            raise NotReady(["Say what is wrong with the cuts."])
        if not self.send_back(sender, reason.strip()):
            raise NotReady(["Nobody here has made these cuts: they cannot be sent back."])

    def send_back(self, sender: Account, reason: str, verdict: Verdict | None = None) -> bool:
        """Return the decomposition, unless it is under way again already; the locked rewrite waits for it. False where
        the session has none."""
        decomposition = self._decomposition()
        if decomposition is None:
            return False
        self.rewrite.wait()
        decomposition.lock()
        if decomposition.state == Assignment.State.SUBMITTED:
            decomposition.send_to_author()
            _tell("item.returned", decomposition)
        sent = {"sender": sender, "reason": reason, "verdict": verdict}
        decomposition.sent_back.create(rewrite=self.rewrite, version=decomposition.version, **sent)
        return True

    def take_up(self, decomposition: Assignment) -> None:
        """Give a waiting rewrite the cuts that were mended, and carry over what was written under the old ones."""
        self.rewrite.lock()
        if self.rewrite.state != Assignment.State.WAITING:
            return
        steps = list(self.rewrite.item.session.places())
        mended = {part.first_step_id: part.instruction for part in decomposition.ordered_parts()}
        self.rewrite.go_on()
        desk = open_desk(self.rewrite, decomposition.user)
        desk.replace_parts(carried(steps, desk.draft, mended))

    def _decomposition(self) -> Assignment | None:
        """The decomposition whose cuts the session's rewrites have: one that is being mended, else the one that was
        chosen; None where there is none."""
        session = self.rewrite.item.session
        asked = SentBack.objects.unmended().filter(rewrite__item__session=session).first()
        if asked is not None:
            return asked.decomposition
        try:
            chosen: Assignment = Assignment.objects.chosen_decomposition(session)
        except NotReady:
            return None
        return chosen


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
        item.open_again(subject.round)


def _tell(event: str, assignment: Assignment) -> None:
    item = assignment.item
    facts = {"assignment": assignment.pk, "user": assignment.user.get_username(), "round": assignment.round}
    emit(item.session.campaign.project, event, item.facts() | facts)
