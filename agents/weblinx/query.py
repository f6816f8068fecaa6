"""The text that dense markup ranking compares elements with (A3.4): viewport, utterances and the last turns."""

from collections.abc import Sequence

from agents.weblinx.actions import clock, history_call
from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.turns import Demo, ReplayTurn

HISTORY_TURNS = 5
UTTERANCES = 5
NO_UTTERANCE = "No instructor utterance"
TURN_SEPARATOR = " ; "


def previous_turns(demo: Demo, turn: ReplayTurn, window: int = HISTORY_TURNS) -> Sequence[ReplayTurn]:
    """The last `window` turns of any kind before this one."""
    return demo.turns[max(0, turn.index - window) : turn.index]


def earlier_utterances(
    demo: Demo, turn: ReplayTurn, window: int = HISTORY_TURNS, n: int = UTTERANCES, quirks: WeblinxQuirks = FAITHFUL
) -> list[ReplayTurn]:
    """The instructor's turns before the window: all if at most `n`, else the first and the last n (or n - 1)."""
    spoken = [earlier for earlier in demo.turns[: max(0, turn.index - window)] if earlier.speaker == "instructor"]
    last = n if quirks.first_utterance_is_extra else n - 1
    return spoken if len(spoken) <= n else [spoken[0], *spoken[len(spoken) - last :]]


def utterance_texts(turns: Sequence[ReplayTurn]) -> list[str]:
    return [f"[{clock(turn.timestamp)}] {turn.utterance}" for turn in turns]


def dmr_query(demo: Demo, turn: ReplayTurn, window: int = HISTORY_TURNS, quirks: WeblinxQuirks = FAITHFUL) -> str:
    """The query of a turn; `window` turns are shown as actions and older instructor utterances as texts."""
    spoken = utterance_texts(earlier_utterances(demo, turn, window, quirks=quirks))
    actions = [str(history_call(previous, quirks)) for previous in previous_turns(demo, turn, window)]
    return (
        f"Viewport(height={turn.viewport_height}, width={turn.viewport_width}) ---- "
        f"Instructor Utterances: {' '.join(spoken) or NO_UTTERANCE} ---- "
        f"Previous Turns:{TURN_SEPARATOR.join(actions)}"
    )
