"""The published query text of rankers. Core."""

from collections.abc import Sequence

PREVIOUS_ACTIONS = 3


def ranker_query(instruction: str, previous_actions: Sequence[str]) -> str:
    """The cross encoder's query: the turn's instruction and its last three actions (sources.md M3)."""
    return f"task is: {instruction}\nPrevious actions: {'; '.join(previous_actions[-PREVIOUS_ACTIONS:])}"
