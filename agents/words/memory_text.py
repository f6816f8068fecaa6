"""The texts that multifaceted matching compares (Self-MAP; sources.md M5.2). Core."""

from collections.abc import Sequence


def memory_text(instruction: str, actions: Sequence[str]) -> str:
    """ "Task: …\\nActions: a1; a2". A query holds the actions of the turn so far, an item only its own (Q11)."""
    return f"Task: {instruction}\nActions: {'; '.join(actions)}"
