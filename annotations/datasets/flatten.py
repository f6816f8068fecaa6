"""Conversations as the published planners see them: one row per action, and past steps as memory items.

What rows and memory items are: sources.md M1.2, M5.1. They point at the records they come from; nothing is copied.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotations.datasets.records import ConversationRecord, StepRecord, TurnRecord


@dataclass(frozen=True)
class ActionRow:
    """One step with what precedes it. `previous_turns` is None at the first turn, never an empty tuple."""

    conversation: ConversationRecord
    turn: TurnRecord
    step: StepRecord
    previous_actions: tuple[str, ...]  # action representations of the same turn only
    previous_turns: tuple[TurnRecord, ...] | None  # oldest first, turns without steps too


@dataclass(frozen=True)
class MemoryItem:
    """One step of an earlier turn; the steps of the current turn are never memory."""

    turn: TurnRecord
    step: StepRecord
    past_actions: tuple[str, ...]  # action representations of the earlier steps of its turn


def flatten(conversations: Iterable[ConversationRecord], *, train: bool = False) -> Iterator[ActionRow]:
    """One row per action in document order.

    `train` leaves out rows without a positive candidate; their turns still serve as history.
    """
    for conversation in conversations:
        for index, turn in enumerate(conversation.turns):
            earlier = conversation.turns[:index] if index else None
            for place, step in enumerate(turn.steps):
                if step.positives or not train:
                    yield ActionRow(conversation, turn, step, _reprs(turn, place), earlier)


def unsqueeze(previous_turns: Iterable[TurnRecord] | None) -> list[MemoryItem]:
    """One memory item per step of the earlier turns, oldest first."""
    return [
        MemoryItem(turn, step, _reprs(turn, place))
        for turn in previous_turns or ()
        for place, step in enumerate(turn.steps)
    ]


def _reprs(turn: TurnRecord, count: int) -> tuple[str, ...]:
    return tuple(step.action_repr for step in turn.steps[:count])
