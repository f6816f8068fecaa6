"""Saving, undoing and redoing edits of an annotation, under a lock of its row. Nothing is ever overwritten unseen.

Every change is an `Edit`; undo and redo are computed from these rows, so they survive a reload. Undoing appends the
inverse edit with `undoes`; redoing is undoing that one. What was accepted of a proposal goes and comes back as a whole.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID, uuid4

from annotations.edits.edit_ops import (
    FIELDS,
    BadEdit,
    Content,
    Draft,
    EditOp,
    Made,
    contents,
    make,
    read_operations,
)
from annotations.edits.mentions import anchored, places
from annotations.models import Assignment, Edit, Part, Proposal, Stage, Step
from annotations.models.accounts.projects import Account

Stacks = tuple[list[list[int]], list[list[int]]]
"""The edits that a person can undo, and those that they can redo, in the portions that are taken back at once."""


@dataclass
class Desk:
    """A locked annotation with all that saving edits of it needs."""

    assignment: Assignment
    user: Account
    steps: dict[int, Step]  # of the session, in order, with operation, value and the turn's instruction only
    draft: Draft
    made: list[Edit]

    def ordered(self) -> list[dict[str, Any]]:
        """The parts in order, as the browser gets them."""
        return [{"step": step} | (contents(self.draft, step) or {}) for step in self.steps if step in self.draft]

    def replace_parts(self, wanted: dict[int, Content]) -> None:
        """Give the annotation these parts, as edits in its log that nobody can undo."""
        before = dict(self.draft)
        for operation in _differences(before, wanted):
            made = make(self.draft, operation)
            if made.done is not None:
                self.made.append(_edit(self, made.done))
        for edit in self.made:
            edit.is_carried = True
        _store(self, before)


@dataclass(frozen=True)
class Saved:
    """The annotation after a request: what became of each edit, and what others wrote after the version `base`."""

    desk: Desk
    results: list[dict[str, Any]]
    others: list[Edit]
    undo: bool
    redo: bool


def save(assignment: Assignment, user: Account, token: UUID | str | None, base: int, rows: Any) -> Saved:
    """Make the edits of a request, each once. Raises NotYours, and BadEdit, which makes none of them.

    `assignment` comes from `for_saving`, within the same transaction.
    """
    assignment.check_lease(user, token)
    desk = open_desk(assignment, user)
    operations = read_operations(rows, desk.steps)
    log = Edit.objects.since(assignment, base, [operation.op_id for operation in operations])
    _check_proposals(operations, assignment)
    return _make_all(desk, operations, log, base)


def undo(
    assignment: Assignment, user: Account, token: UUID | str | None, base: int, op_id: UUID | None = None
) -> Saved:
    """Take back the newest own edit that is not taken back yet, with all that was accepted with it of a proposal;
    nothing when there is none. Raises as `save`."""
    return _step_back(assignment, user, token, base, op_id, lambda stacks: stacks[0])


def redo(
    assignment: Assignment, user: Account, token: UUID | str | None, base: int, op_id: UUID | None = None
) -> Saved:
    """Take back the newest undo after which nothing else was edited. Raises as `save`."""
    return _step_back(assignment, user, token, base, op_id, lambda stacks: stacks[1])


def open_desk(assignment: Assignment, user: Account) -> Desk:
    """Read what editing an annotation needs, in two queries: the steps of its session and its parts. BadEdit for a
    verification."""
    if assignment.item.stage == Stage.VERIFY:
        raise BadEdit("A verification has no parts to edit.")
    steps = {step.pk: step for step in assignment.item.session.bare_steps()}
    parts = {part.first_step_id: part for part in assignment.parts.all()}
    draft = {step: _content(parts[step]) for step in steps if step in parts}
    return Desk(assignment, user, steps, draft, [])


def fix_mentions(assignment: Assignment) -> None:
    """Store the places that mentions have in the texts as they are now, for whoever reads a submitted annotation.

    This is no edit: nobody changed anything, and undo finds the same mentions by their words.
    """
    parts = {part.first_step_id: part for part in assignment.parts.all()}
    said = {step: part.rewrite for step, part in parts.items()}
    for step, part in parts.items():
        now = anchored(part.mentions, said, step)
        if places(now) != places(part.mentions):
            part.mentions = now
            part.save(update_fields=["mentions"])


def _differences(draft: Draft, wanted: dict[int, Content]) -> list[EditOp]:
    """The edits that turn a draft into the wanted parts, those of mentions last, as mentions point into the texts."""
    new = {step: content for step, content in wanted.items() if step not in draft}
    kept = {step: content for step, content in wanted.items() if step in draft}
    found = [
        EditOp(uuid4(), "cut", step, after={"instruction": one.instruction, "rewrite": one.rewrite})
        for step, one in new.items()
    ]
    found += [
        EditOp(uuid4(), "text", step, name, getattr(draft[step], name), getattr(one, name))
        for step, one in kept.items()
        for name in FIELDS
        if getattr(draft[step], name) != getattr(one, name)
    ]
    found += [
        EditOp(uuid4(), "mentions", step, before=draft[step].mentions if step in draft else [], after=one.mentions)
        for step, one in wanted.items()
        if one.mentions != (draft[step].mentions if step in draft else [])
    ]
    gone = [step for step in draft if step not in wanted]
    return found + [
        EditOp(uuid4(), "join", step, before={name: getattr(draft[step], name) for name in FIELDS}) for step in gone
    ]


def _content(part: Part) -> Content:
    return Content(part.instruction, part.rewrite, part.mentions)


def _step_back(
    assignment: Assignment,
    user: Account,
    token: UUID | str | None,
    base: int,
    op_id: UUID | None,
    stack: Callable[[Stacks], list[list[int]]],
) -> Saved:
    assignment.check_lease(user, token)
    desk = open_desk(assignment, user)
    log = Edit.objects.since(assignment, base, [op_id] if op_id else [])
    newest = [pk for portion in stack(assignment.edits.stacks_of(user))[-1:] for pk in portion]
    if any(edit.op_id == op_id for edit in log):
        newest = []  # asked for twice: it was done the first time
    operations: list[EditOp] = []
    for edit in assignment.edits.filter(pk__in=newest).order_by("-version"):
        asked = EditOp(edit.op_id, edit.kind, edit.step_id, edit.field, edit.before, edit.after)
        name = uuid4() if operations or op_id is None else op_id  # the request is known again by its first edit
        operations.append(asked.inverse(name, edit.pk))
    return _make_all(desk, operations, log, base)


def _make_all(desk: Desk, operations: list[EditOp], log: list[Edit], base: int) -> Saved:
    """Make the operations in order, store what changed, and return what became of each and what others wrote after
    `base`."""
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
    done, undone = desk.assignment.edits.stacks_of(desk.user)
    return Saved(desk, results, others, bool(done), bool(undone))


def _check_proposals(operations: list[EditOp], assignment: Assignment) -> None:
    named = {operation.proposal for operation in operations if operation.proposal is not None}
    if named and Proposal.objects.filter(pk__in=named, assignment=assignment).count() < len(named):
        raise BadEdit("A proposal that is named was made for something else.")


def _edit(desk: Desk, done: EditOp) -> Edit:
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


def _result(desk: Desk, operation: EditOp, made: Made) -> dict[str, Any]:
    """What the browser is told of an operation; `after` is the current content of the place, whatever became of the
    edit."""
    now = contents(desk.draft, operation.step)
    if operation.kind in ("text", "mentions") and now is not None:
        now = now[operation.field or "mentions"]
    return {"op_id": str(operation.op_id), "status": made.status, "after": now, "theirs": made.theirs}


def _store(desk: Desk, before: Draft) -> None:
    """Store what differs from `before`: the edits, the parts and the version."""
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
