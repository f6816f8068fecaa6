"""Choose one element of many by knock-out: ask about five at a time, winners go to the end of the queue.

The loop of MindAct and Self-MAP (planners spec 4.4). It holds no model and no randomness: the caller shuffles the
candidates and answers the groups, of one step or of many in a batch.
"""

from collections.abc import Generator, Sequence

from agents.words.parse import ParsedReply

GROUP_SIZE = 5


def rounds(
    candidates: Sequence[str], group_size: int = GROUP_SIZE
) -> Generator[list[str], ParsedReply, ParsedReply | None]:
    """Yield each group of backend node ids, expect its `ParsedReply` by `send`, return the winner.

    The winner is None when nothing was chosen, also when the last group rejected an earlier winner. One
    candidate alone is never asked about and therefore fails (Q7, published). A reply must name an element of the
    group or none; the action is the one of the last reply that named an element.
    """
    if group_size < 2:
        raise ValueError(f"group_size must be at least 2, or the knock-out never ends, got {group_size}")
    waiting = list(candidates)
    winner: ParsedReply | None = None
    while len(waiting) > 1:
        group, waiting = waiting[:group_size], waiting[group_size:]
        reply = yield group
        if reply.element is not None:
            waiting.append(reply.element)
            winner = reply
    return winner if waiting else None
