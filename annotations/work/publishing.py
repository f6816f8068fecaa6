"""Write a verified annotation as a conversation of the campaign's target dataset."""

from typing import Any

from annotations.corpus.exporting import conversation_records
from annotations.corpus.store import content_sha256
from annotations.models import Assignment, Conversation, Part, Session, Step, Target, Turn


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
        copies.append(
            Step(
                turn=turn,
                index=index,
                source_id=source_id,
                source_index=step.source_index,
                operation=step.operation,
                original_operation=step.original_operation,
                value=step.value,
                action_repr=step.action_repr,
                snapshot_id=step.snapshot_id,
                raw_snapshot_id=step.raw_snapshot_id,
                snapshot_after_id=step.snapshot_after_id if step.keeps_page_after else following,
                keeps_page_after=step.keeps_page_after,
                screenshot_id=step.screenshot_id,
                candidates=step.candidates,
                candidate_count=step.candidate_count,
                extra=step.extra,
                marks=step.marks,
            )
        )
    Step.objects.bulk_create(copies)
    Target.objects.bulk_create(
        Target(
            step=copy,
            node_id=target.node_id,
            position=target.position,
            node_order=target.node_order,
            pruned=target.pruned,
            is_original=target.is_original,
            is_top_level=target.is_top_level,
        )
        for copy, step in zip(copies, steps, strict=True)
        for target in step.targets.all()
    )
