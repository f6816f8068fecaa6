"""The rounds of the knock-out, one answered after another, as its authors ran them."""

from collections.abc import Callable, Sequence

from agents.stages.simplify.knockout import GROUP_SIZE, rounds
from agents.words.parse import ParsedReply


def knock_out(
    candidates: Sequence[str], ask: Callable[[list[str]], ParsedReply], group_size: int = GROUP_SIZE
) -> ParsedReply | None:
    """Run the rounds with `ask`, which answers one group; returns the winner or None."""
    asking = rounds(candidates, group_size)
    reply: ParsedReply | None = None
    while True:
        try:
            group = next(asking) if reply is None else asking.send(reply)
        except StopIteration as end:
            winner: ParsedReply | None = end.value
            return winner
        reply = ask(group)
