"""Saving, undoing and redoing edits of an annotation, under a lock of its row. Nothing is ever overwritten unseen.

Every change is an `Edit`; undo and redo are computed from these rows, so they survive a reload. Undoing appends the
inverse edit with `undoes`; redoing is undoing that one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import F, Model, prefetch_related_objects

from annotations.models import Assignment, Campaign, Edit, Item, Part, Proposal, Role, Session, Stage, Step, Turn
from annotations.work.edits.mentions import anchored, places
from annotations.work.edits.operations import BadEdit, Content, Draft, Made, Operation, contents, make, read_operations

# In SQL, as every save runs them: Django takes longer to put these together than to do all else that a save needs.
LOCKED = """
SELECT a.*, i.stage, i.session_id, s.split, s.is_gold, s.campaign_id, c.project_id, m.role
FROM annotations_assignment a
JOIN annotations_item i ON i.id = a.item_id
JOIN annotations_session s ON s.id = i.session_id
JOIN annotations_campaign c ON c.id = s.campaign_id
LEFT JOIN annotations_membership m ON m.project_id = c.project_id AND m.user_id = %s
WHERE a.id = %s AND s.deleted_at IS NULL
FOR UPDATE OF a
"""
STEPS = """
SELECT st.id, st.operation, st.value, st.turn_id, t.instruction
FROM annotations_sessiontask k
JOIN annotations_turn t ON t.conversation_id = k.conversation_id
JOIN annotations_step st ON st.turn_id = t.id
WHERE k.session_id = %s
ORDER BY k.position, t.index, st.index
"""
LOG = """
SELECT * FROM annotations_edit WHERE assignment_id = %s AND (version > %s OR op_id = ANY(%s)) ORDER BY version
"""
M = TypeVar("M", bound=Model)


class NotYours(Exception):
    """Somebody writes who holds no lease, or no longer; `code` tells the browser why, `holder` who has the work."""

    def __init__(self, code: str, message: str, holder: str | None = None) -> None:
        super().__init__(message)
        self.code, self.holder = code, holder


@dataclass
class Desk:
    """A locked annotation on which edits are made, with all that saving them needs."""

    assignment: Assignment
    user: Any
    steps: dict[int, Step]  # of the session, in order, with operation, value and the turn's instruction only
    draft: Draft
    made: list[Edit]

    def ordered(self) -> list[dict[str, Any]]:
        """The parts as the browser gets them."""
        return [{"step": step} | (contents(self.draft, step) or {}) for step in self.steps if step in self.draft]


@dataclass(frozen=True)
class Saved:
    """The annotation after a request: what became of each edit, and what others wrote after the version `base`."""

    desk: Desk
    results: list[dict[str, Any]]
    others: list[Edit]
    undo: bool
    redo: bool


def locked(pk: int, user) -> Assignment | None:
    """The annotation, locked until the transaction ends: saves of one annotation wait for each other, others do not.

    `role` is the user's in its project, None for strangers. None for what is not there or in the bin. Item, session
    and campaign come with it as far as saving needs them, and read the rest when it is asked for.
    """
    found = next(iter(Assignment.objects.raw(LOCKED, [user.pk, pk])), None)
    if found is None:
        return None
    campaign = _partly(Campaign, id=found.campaign_id, project_id=found.project_id)
    session = _partly(Session, id=found.session_id, campaign_id=campaign.pk, split=found.split, is_gold=found.is_gold)
    session.campaign = campaign
    found.item = _partly(Item, id=found.item_id, session_id=session.pk, stage=found.stage)
    found.item.session = session
    if found.user_id == user.pk:
        found.user = user
    if user.is_superuser:
        found.role = Role.ADMIN
    return found


def save(assignment: Assignment, user, token: str | None, base: int, rows: Any) -> Saved:
    """Make the edits of a request, each once. Raises NotYours, and BadEdit, which makes none of them.

    `assignment` comes from `locked`, within the same transaction.
    """
    check_lease(assignment, user, token)
    desk = open_desk(assignment, user)
    operations = read_operations(rows, desk.steps)
    log = _log(assignment, base, [operation.op_id for operation in operations])
    _check_proposals(operations, assignment)
    return _make_all(desk, operations, log, base)


def undo(assignment: Assignment, user, token: str | None, base: int, op_id: UUID | None = None) -> Saved:
    """Take back the newest own edit that is not taken back yet; nothing when there is none. Raises as `save`."""
    return _step_back(assignment, user, token, base, op_id, lambda stacks: stacks[0])


def redo(assignment: Assignment, user, token: str | None, base: int, op_id: UUID | None = None) -> Saved:
    """Take back the newest undo after which nothing else was edited. Raises as `save`."""
    return _step_back(assignment, user, token, base, op_id, lambda stacks: stacks[1])


def check_lease(assignment: Assignment, user, token: str | None) -> None:
    """Raise NotYours unless this user may write with this token. One whose time is up is good until another is given:
    nobody has taken the work over, so nothing can clash."""
    if assignment.user_id != user.pk:
        raise NotYours("taken_over", "Somebody else has taken this over.", assignment.user.get_username())
    if assignment.state == Assignment.State.SUBMITTED:
        raise NotYours("submitted", "It has been submitted.")
    if assignment.state not in Assignment.UNFINISHED:
        raise NotYours("lease_lost", "It was given back.")
    if assignment.lease_token is None or str(assignment.lease_token) != token:
        raise NotYours("lease_lost", "It is open in another window.", user.get_username())


def open_desk(assignment: Assignment, user) -> Desk:
    """Two queries: the steps of the session and the parts."""
    if assignment.item.stage == Stage.VERIFY:
        raise BadEdit("A verification has no parts to edit.")
    steps = {step.pk: step for step in _steps(assignment.item.session_id)}
    parts = {part.first_step_id: part for part in assignment.parts.all()}
    draft = {
        step: Content(parts[step].instruction, parts[step].rewrite, parts[step].mentions)
        for step in steps
        if step in parts
    }
    return Desk(assignment, user, steps, draft, [])


def fix_mentions(assignment: Assignment) -> None:
    """Store the places that mentions have in the texts as they are now, for whoever reads a submitted annotation.

    No edit: nobody changed anything, and undo finds the same mentions by their words.
    """
    parts = {part.first_step_id: part for part in assignment.parts.all()}
    said = {step: part.rewrite for step, part in parts.items()}
    for step, part in parts.items():
        now = anchored(part.mentions, said, step)
        if places(now) != places(part.mentions):
            part.mentions = now
            part.save(update_fields=["mentions"])


def stacks(rows: Iterable[tuple[int, int | None]]) -> tuple[list[int], list[int]]:
    """Edits that can be undone and undos that can be redone, oldest first, from (edit, the edit it undoes) rows."""
    done: list[int] = []
    undone: list[int] = []
    for pk, undoes in rows:
        if undoes is None:
            done.append(pk)
            undone.clear()
        elif undoes in undone:  # a redo
            undone.remove(undoes)
            done.append(pk)
        else:
            done = [other for other in done if other != undoes]
            undone.append(pk)
    return done, undone


def own_stacks(assignment: Assignment, user) -> tuple[list[int], list[int]]:
    """What this person can undo and redo. Edits that found their change made already are nothing to undo."""
    changing = assignment.edits.filter(user=user).exclude(before__isnull=False, before=F("after"))
    changing = changing.exclude(before__isnull=True, after__isnull=True)
    return stacks(changing.order_by("version").values_list("pk", "undoes_id"))


def _step_back(
    assignment: Assignment, user, token: str | None, base: int, op_id: UUID | None, stack: Callable
) -> Saved:
    check_lease(assignment, user, token)
    desk = open_desk(assignment, user)
    log = _log(assignment, base, [op_id] if op_id else [])
    newest = stack(own_stacks(assignment, user))[-1:]
    if any(edit.op_id == op_id for edit in log):
        newest = []  # asked for twice: it was done the first time
    operations = []
    for edit in assignment.edits.filter(pk__in=newest):
        asked = Operation(edit.op_id, edit.kind, edit.step_id, edit.field, edit.before, edit.after)
        operations.append(asked.inverse(op_id or uuid4(), edit.pk))
    return _make_all(desk, operations, log, base)


def _make_all(desk: Desk, operations: list[Operation], log: list[Edit], base: int) -> Saved:
    """Make the operations in order, store what changed, and say what happened meanwhile."""
    known = {edit.op_id for edit in log}
    before = dict(desk.draft)
    results = []
    for operation in operations:
        if operation.op_id in known:
            results.append(_result(desk, operation, Made("repeated")))
            continue
        made = make(desk.draft, operation)
        if made.done is not None:
            known.add(operation.op_id)
            desk.made.append(_edit(desk, made.done))
        results.append(_result(desk, operation, made))
    _store(desk, before)
    asked = {operation.op_id for operation in operations}
    others = [edit for edit in log if edit.version > base and edit.op_id not in asked]
    if any(edit.undoes_id is None and edit.before != edit.after for edit in desk.made):
        return Saved(desk, results, others, undo=True, redo=False)  # as the stacks say after a new edit
    done, undone = own_stacks(desk.assignment, desk.user)
    return Saved(desk, results, others, bool(done), bool(undone))


def _steps(session: int) -> Iterator[Step]:
    turns: dict[int, Turn] = {}
    with connection.cursor() as cursor:
        cursor.execute(STEPS, [session])
        for pk, operation, value, turn, instruction in cursor.fetchall():
            step = _partly(Step, id=pk, turn_id=turn, operation=operation, value=value)
            step.turn = turns.setdefault(turn, _partly(Turn, id=turn, instruction=instruction))
            yield step


def _partly(model: type[M], **values: Any) -> M:
    """A row of which these columns have been read; the others are read when somebody asks."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in values]
    return model.from_db(connection.alias, names, [values[name] for name in names])


def _log(assignment: Assignment, base: int, op_ids: list[UUID]) -> list[Edit]:
    """Edits after a version, and those with these ids: mostly none."""
    rows = list(Edit.objects.raw(LOG, [assignment.pk, base, op_ids]))
    prefetch_related_objects(rows, "user")
    return rows


def _check_proposals(operations: list[Operation], assignment: Assignment) -> None:
    named = {operation.proposal for operation in operations} - {None}
    if named and Proposal.objects.filter(pk__in=named, assignment=assignment).count() < len(named):
        raise BadEdit("A proposal that is named was made for something else.")


def _edit(desk: Desk, done: Operation) -> Edit:
    version = desk.assignment.version + len(desk.made) + 1
    return Edit(
        assignment=desk.assignment,
        version=version,
        op_id=done.op_id,
        user=desk.user,
        kind=done.kind,
        step_id=done.step,
        field=done.field,
        before=done.before,
        after=done.after,
        undoes_id=done.undoes,
        proposal_id=done.proposal,
    )


def _result(desk: Desk, operation: Operation, made: Made) -> dict[str, Any]:
    """`after` is how the place reads now, whatever became of the edit."""
    now = contents(desk.draft, operation.step)
    if operation.kind in ("text", "mentions") and now is not None:
        now = now[operation.field or "mentions"]
    return {"op_id": str(operation.op_id), "status": made.status, "after": now, "theirs": made.theirs}


def _store(desk: Desk, before: Draft) -> None:
    """Write what is different from `before`: the edits, the parts and the version."""
    if not desk.made:
        return
    Edit.objects.bulk_create(desk.made)
    parts = desk.assignment.parts
    if gone := before.keys() - desk.draft.keys():
        parts.filter(first_step__in=gone).delete()
    new = [step for step in desk.draft if step not in before]
    if new:
        Part.objects.bulk_create(
            Part(assignment=desk.assignment, first_step_id=step, **asdict(desk.draft[step])) for step in new
        )
    for step in before.keys() & desk.draft.keys():
        if before[step] != desk.draft[step]:
            parts.filter(first_step=step).update(**asdict(desk.draft[step]))
    desk.assignment.version += len(desk.made)
    Assignment.objects.filter(pk=desk.assignment.pk).update(version=desk.assignment.version)
