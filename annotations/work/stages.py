"""How work moves on: from a session to its decomposition, its rewrite, its verification, into the target dataset.

Every function is one transaction. Rows are locked in one order, an assignment before its item, so that none waits
for the other.
"""

from django.db import transaction
from django.utils import timezone

from annotations.models import Assignment, Item, Part, Session, Stage, Turn
from annotations.work.edits.saving import fix_mentions
from annotations.work.measure.agreement import boundary_similarity, cuts_of
from annotations.work.propose.proposing import settle
from annotations.work.publishing import publish
from annotations.work.tell.events import emit

State, Review = Assignment.State, Assignment.Review


class NotReady(ValueError):
    """Work that cannot go on yet; `problems` are sentences for the person at work."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@transaction.atomic
def open_work(session: Session) -> Item:
    """The decomposition of a session, opened if it was not yet. NotReady for a session without steps."""
    if not session.steps().exists():
        raise NotReady([f"{session} has no steps: put tasks into it first."])
    return _open(session, Stage.DECOMPOSE, session.campaign.overlap)


@transaction.atomic
def start_document(assignment: Assignment) -> None:
    """The first parts of a new annotation: one per instruction of the source tasks, or for a rewrite a copy of the
    chosen decomposition in which every rewrite reads as the instruction does."""
    session = assignment.item.session
    if assignment.item.stage == Stage.DECOMPOSE:
        parts = [Part(first_step=steps[0], instruction=turn.instruction) for turn, steps in _turns(session)]
    elif assignment.item.stage == Stage.REWRITE:
        chosen = chosen_decomposition(session)
        parts = [
            Part(first_step_id=part.first_step_id, instruction=part.instruction, rewrite=part.instruction)
            for part in chosen.parts.all()
        ]
    else:
        return
    for part in parts:
        part.assignment = assignment
    Part.objects.bulk_create(parts)


def chosen_decomposition(session: Session) -> Assignment:
    """The submitted decomposition that agrees best with the others (mean boundary similarity); the first of equals.

    NotReady when none is submitted.
    """
    submitted = list(
        Assignment.objects.filter(item__session=session, item__stage=Stage.DECOMPOSE, state=State.SUBMITTED)
        .prefetch_related("parts")
        .order_by("id")
    )
    if not submitted:
        raise NotReady([f"No decomposition of {session} has been submitted yet."])
    if len(submitted) == 1:
        return submitted[0]
    places = session.places()
    cuts = [cuts_of((part.first_step_id for part in one.parts.all()), places) for one in submitted]

    def agreement(index: int) -> float:
        others = [boundary_similarity(cuts[index], other, len(places)) for n, other in enumerate(cuts) if n != index]
        return sum(others) / len(others)

    return submitted[max(range(len(submitted)), key=lambda index: (agreement(index), -index))]


@transaction.atomic
def submit(assignment: Assignment) -> None:
    """Hand an annotation in; the last one of its item opens what comes next. `assignment` is read again, locked.

    NotReady when parts are incomplete, or when it is not under way.
    """
    item = _locked(assignment)
    if assignment.state not in Assignment.UNFINISHED:
        raise NotReady(["It was submitted already." if assignment.state == State.SUBMITTED else "It was given back."])
    if problems := missing(assignment):
        raise NotReady(problems)
    fix_mentions(assignment)
    settle(assignment)
    _save(assignment, state=State.SUBMITTED, submitted_at=timezone.now(), lease_token=None, lease_until=None)
    _tell("item.submitted", assignment)
    if item.stage == Stage.REWRITE and not item.session.is_gold:
        _open_verification(assignment)
    if item.state == Item.State.OPEN and item.assignments.filter(state=State.SUBMITTED).count() >= item.overlap:
        # A rewrite is done when one of its annotations has passed; that of a gold item is compared, not verified.
        done = item.stage != Stage.REWRITE or item.session.is_gold
        _finish(item, Item.State.DONE if done else Item.State.SUBMITTED)
        if item.stage == Stage.DECOMPOSE:
            _open(item.session, Stage.REWRITE, item.session.campaign.overlap)


def missing(assignment: Assignment) -> list[str]:
    """What an annotation still lacks before it can be submitted, as sentences."""
    stage = assignment.item.stage
    if stage == Stage.VERIFY:
        return []
    field = "rewrite" if stage == Stage.REWRITE else "instruction"
    texts = {part.first_step_id: getattr(part, field) for part in assignment.parts.all()}
    steps = list(assignment.item.session.steps().values_list("pk", flat=True))
    problems = [] if steps and steps[0] in texts else ["The first part must begin at the first step."]
    ordered = [(place, texts[pk]) for place, pk in enumerate(steps) if pk in texts]
    return problems + [
        f"Part {number}, from step {place + 1}, has no {field}."
        for number, (place, text) in enumerate(ordered, 1)
        if not text.strip()
    ]


@transaction.atomic
def passed(subject: Assignment) -> None:
    """The verifiers accept an annotation. The first of a session becomes a conversation of the target dataset."""
    item = _locked(subject)
    _save(subject, review=Review.PASSED)
    session = (
        Session.objects.select_for_update(of=("self",)).select_related("campaign", "website").get(pk=item.session_id)
    )
    if session.released_id is None and not session.is_gold:
        session.released = publish(session, subject)
        session.save(update_fields=["released"])
    _finish(item, Item.State.DONE)
    _tell("item.passed", subject)


@transaction.atomic
def returned(subject: Assignment) -> None:
    """The verifiers send an annotation back: its author goes on with it in a new round."""
    item = _locked(subject)
    _save(subject, review=Review.RETURNED, round=subject.round + 1, state=State.IN_PROGRESS)
    if item.session.released_id is None:
        item.state, item.finished_at = Item.State.OPEN, None
        item.save(update_fields=["state", "finished_at"])
    _tell("item.returned", subject)


def _turns(session: Session) -> list[tuple[Turn, list]]:
    """The turns of the source tasks that have steps, in order, with them."""
    found: list[tuple[Turn, list]] = []
    for step in session.steps().select_related("turn").defer("candidates"):
        if not found or found[-1][0].pk != step.turn_id:
            found.append((step.turn, []))
        found[-1][1].append(step)
    return found


def _open(session: Session, stage: str, overlap: int, subject: Assignment | None = None) -> Item:
    item, made = Item.objects.get_or_create(
        session=session, stage=stage, subject=subject, defaults={"overlap": overlap}
    )
    if made:
        emit(session.campaign.project, "item.opened", _about(item))
    return item


def _open_verification(subject: Assignment) -> None:
    """Open the verification of a rewrite, or after a return open it again for the same verifiers."""
    item = _open(subject.item.session, Stage.VERIFY, subject.item.session.campaign.verify_overlap, subject)
    if subject.round > 1:
        Item.objects.filter(pk=item.pk).update(state=Item.State.OPEN, finished_at=None)
        item.assignments.filter(state=State.SUBMITTED).update(state=State.ASSIGNED, round=subject.round)


def _locked(assignment: Assignment) -> Item:
    """Lock an assignment, read it again, and lock and give its item."""
    assignment.refresh_from_db(from_queryset=Assignment.objects.select_for_update(of=("self",)))
    items = Item.objects.select_for_update(of=("self",)).select_related("session__campaign__project")
    assignment.item = items.get(pk=assignment.item_id)
    return assignment.item


def _save(assignment: Assignment, **fields) -> None:
    for name, value in fields.items():
        setattr(assignment, name, value)
    assignment.save(update_fields=list(fields))


def _finish(item: Item, state: str) -> None:
    item.state = state
    item.finished_at = timezone.now() if state == Item.State.DONE else None
    item.save(update_fields=["state", "finished_at"])


def _tell(event: str, assignment: Assignment) -> None:
    item = assignment.item
    facts = {"assignment": assignment.pk, "user": assignment.user.get_username(), "round": assignment.round}
    emit(item.session.campaign.project, event, _about(item) | facts)


def _about(item: Item) -> dict:
    session = item.session
    return {
        "item": item.pk,
        "stage": item.stage,
        "session": session.name,
        "split": session.split,
        "batch": session.batch,
        "campaign": {"id": session.campaign_id, "name": session.campaign.name},
    }
