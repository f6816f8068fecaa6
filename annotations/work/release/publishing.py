"""Write a verified annotation as a conversation of the campaign's target dataset."""

from typing import Any

from annotations.corpus.store import ConversationStore, TurnCopy
from annotations.models import Assignment, Conversation, Part, Session


def publish(session: Session, assignment: Assignment) -> Conversation:
    """The session as a conversation with one turn per part of `assignment`; call it inside a transaction.

    A turn's instruction is the part's rewrite. Its `extra` holds {"original": the instruction standing alone,
    "mentions": [{id, phenomenon, start, end, antecedent: {turn, start, end} or null}]}; `turn` counts from 0.
    """
    turns = assignment.parts_with_steps()
    numbers = {part.first_step_id: index for index, (part, _) in enumerate(turns)}
    copies = [
        TurnCopy(part.rewrite, steps, {"original": part.instruction, "mentions": _mentions(part, numbers)})
        for part, steps in turns
    ]
    store = ConversationStore(session.campaign.ensure_target(), session.split)
    extra = {"campaign": session.campaign.name}
    return store.copy(session.name, session.website, session.position, extra, copies)


def _mentions(part: Part, numbers: dict[int, int]) -> list[dict[str, Any]]:
    """The part's mentions, with the turn of each antecedent in place of its first step: the steps of the published
    conversation are copies with numbers of their own."""
    named = []
    for mention in part.mentions:
        antecedent = mention.get("antecedent")
        if antecedent and antecedent.get("step") in numbers:
            place = {"turn": numbers[antecedent["step"]], "start": antecedent["start"], "end": antecedent["end"]}
        else:
            place = None
        named.append(mention | {"antecedent": place})
    return named
