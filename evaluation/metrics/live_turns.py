"""Means over the turns of live conversations; intervals draw conversations. Core."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.outcomes import Metric


@dataclass(frozen=True)
class LiveTurn:
    """The outcome of one turn of an episode."""

    conversation: str  # all seeds of it together: they are one thing that may be drawn
    reached: bool
    steps: int
    recorded_steps: int
    problems: int  # that the website told
    side_effects: int
    asked: int = 0  # questions
    needed: bool = False  # something was left out on purpose
    told_after: int | None = None  # steps before the first question that brought something
    spoken: bool = False  # the user is a language model
    answers: int = 0  # that it gave
    leaks: int = 0  # of these: they told what no question had asked for
    said_unasked: bool = False  # its instruction told it already
    content: bool | None = None  # what it says of the turn
    stood_in: int = 0  # times that scripted words stood in for its own
    site: str = ""

    @property
    def asked_well(self) -> bool:
        return self.needed and self.told_after is not None


COUNTED = {"path_ratio", "side_effects", "told_after"}  # no shares: they may be above 1
TurnShare = tuple[Callable[[LiveTurn], float], Callable[[LiveTurn], float]]
SHARES: dict[str, TurnShare] = {
    "live_turn_success": (lambda turn: turn.reached, lambda turn: 1),
    "recovery": (lambda turn: turn.reached and turn.problems > 0, lambda turn: turn.problems > 0),
    "path_ratio": (
        lambda turn: turn.steps if turn.reached else 0,
        lambda turn: turn.recorded_steps if turn.reached else 0,
    ),
    "side_effects": (lambda turn: turn.side_effects, lambda turn: 1),
    "ask_f1": (
        lambda turn: 2 * (turn.asked > 0 and turn.needed),
        lambda turn: (turn.asked > 0) + turn.needed,
    ),
    "told_success": (lambda turn: turn.reached and turn.asked_well, lambda turn: turn.asked_well),
    "untold_success": (
        lambda turn: turn.reached and turn.needed and not turn.asked_well,
        lambda turn: turn.needed and not turn.asked_well,
    ),
    "told_after": (lambda turn: turn.told_after or 0, lambda turn: turn.asked_well),
    "user_leaks": (lambda turn: turn.leaks, lambda turn: turn.answers if turn.needed else 0),
    "said_unasked": (lambda turn: turn.said_unasked, lambda turn: turn.spoken and turn.needed),
    "user_content": (lambda turn: turn.content is True, lambda turn: turn.content is not None),
    "user_agrees": (lambda turn: turn.content is turn.reached, lambda turn: turn.content is not None),
    "user_stood_in": (lambda turn: turn.stood_in > 0, lambda turn: turn.spoken),
}
"""Metric -> what is summed over turns, divided by what: recovery over turns in which the site told a problem, steps
against the recorded path over turns that were reached; Ask-F1 over turns (asked when something was left out, not
otherwise); the success of such turns where the user told it and where not, and after how many steps it was told. Of
users that are language models: answers that told what no question had asked for, over answers in turns that leave
something out; such turns whose instruction told it already; turns of which the user says that it is content, and in
which it says what the website's state says; turns in which scripted words stood in for its own."""


def measure_turns(turns: Sequence[LiveTurn], seed: int = 0) -> list[Metric]:
    """Ratios of sums with 95 % intervals; a metric that nothing counts in is left out."""
    groups: dict[str, list[LiveTurn]] = defaultdict(list)
    for turn in turns:
        groups[turn.conversation].append(turn)
    return [found for name, share in SHARES.items() if (found := _ratio(name, share, groups, seed)) is not None]


def _ratio(name: str, share: TurnShare, groups: dict[str, list[LiveTurn]], seed: int) -> Metric | None:
    above, below = share
    sums = [(sum(map(above, turns)), sum(map(below, turns))) for turns in groups.values()]
    counted = np.array([pair for pair in sums if pair[1] > 0], dtype=float)
    if not len(counted):
        return None
    value = float(counted[:, 0].sum() / counted[:, 1].sum())
    most = nan if name in COUNTED else 1.0
    low, high = intervals(counted[:, :1], counted[:, 1:], seed, most=most)[:, 0]
    return Metric(name, value, float(low), float(high), len(counted), "conversation")
