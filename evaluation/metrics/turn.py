"""Turn and conversation success: no step of the group failed."""

from collections.abc import Iterable


def all_succeeded(steps: Iterable[bool]) -> bool:
    """True when every step succeeded: turn success over a turn's steps, conversation success over a conversation's.

    On single-turn data a conversation is one task, so conversation success is the task success rate (SR).
    False for no steps: an empty group is never counted as a success.
    """
    outcomes = list(steps)
    return bool(outcomes) and all(outcomes)
