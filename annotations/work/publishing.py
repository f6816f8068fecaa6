"""Write a verified annotation as a conversation of the campaign's target dataset."""

from typing import Any, TypeVar

from django.db import models

from annotations.corpus.exporting import conversation_records
from annotations.corpus.store import content_sha256
from annotations.models import Assignment, Conversation, Part, Session, Step, Target, Turn

Row = TypeVar("Row", bound=models.Model)


def publish(session: Session, assignment: Assignment) -> Conversation:
    """The session as a conversation with one turn per part of `assignment`; call it inside a transaction.

    A turn's instruction is the part's rewrite. Its `extra` holds {"original": the instruction standing alone,
    "mentions": [{id, phenomenon, start, end, antecedent: {turn, start, end} or null}]}; `turn` counts from 0.
    """
    dataset = session.campaign.target_dataset()
    conversation = Conversation.objects.create(
        dataset=dataset,
        source_id=session.name,
        website=session.website.within(dataset),
        split=session.split,
        position=session.position,
        content_sha256="",
        extra={"campaign": session.campaign.name},
    )
    turns = assignment.parts_with_steps()
    numbers = {part.first_step_id: index for index, (part, _) in enumerate(turns)}
    for index, (part, steps) in enumerate(turns):
        turn = Turn.objects.create(
            conversation=conversation,
            index=index,
            source_id=f"{session.name}_{index}",
            instruction=part.rewrite,
            extra={"original": part.instruction, "mentions": _mentions(part, numbers)},
        )
        _copy_steps(turn, steps)
    record = next(conversation_records(Conversation.objects.filter(pk=conversation.pk)))
    Conversation.objects.filter(pk=conversation.pk).update(content_sha256=content_sha256(record, session.split))
    conversation.refresh_from_db()
    return conversation


def _mentions(part: Part, numbers: dict[int, int]) -> list[dict[str, Any]]:
    """The part's mentions with antecedents named by turn; the first steps that name them here mean nothing there."""
    named = []
    for mention in part.mentions:
        antecedent = mention.get("antecedent")
        if antecedent and antecedent.get("step") in numbers:
            place = {"turn": numbers[antecedent["step"]], "start": antecedent["start"], "end": antecedent["end"]}
        else:
            place = None
        named.append(mention | {"antecedent": place})
    return named


def _copy_steps(turn: Turn, steps: list[Step]) -> None:
    """Copies of the steps: the same pages, candidates and targets."""
    seen: set[str] = set()
    copies = []
    for index, step in enumerate(steps):
        following = steps[index + 1].snapshot_id if index + 1 < len(steps) else None
        # Steps of different tasks may share an id, which a turn may hold only once.
        source_id = f"{step.turn.conversation.source_id}:{step.source_id}" if step.source_id in seen else step.source_id
        seen.add(source_id)
        after = step.snapshot_after_id if step.keeps_page_after else following
        copies.append(_copy(step, turn_id=turn.pk, index=index, source_id=source_id, snapshot_after_id=after))
    Step.objects.bulk_create(copies)
    Target.objects.bulk_create(
        _copy(target, step_id=copy.pk)
        for copy, step in zip(copies, steps, strict=True)
        for target in step.targets.all()
    )


def _copy(row: Row, **changes: Any) -> Row:
    """A new row, not stored yet, with every column of this one but its key and the changes."""
    columns = (field.attname for field in row._meta.concrete_fields if not field.primary_key)
    return type(row)(**{name: getattr(row, name) for name in columns} | changes)
