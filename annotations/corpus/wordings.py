"""What a turn said at a step before its words were corrected, as an agent that ran then was told it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from annotations.models import Step, Turn, TurnCorrection

StepWords = dict[int, str]
"""Step -> what its turn says."""


class EarlierWords:
    """The words of steps in conversations whose turns were corrected. A correction of where a turn begins changes those
    of the steps that it moves."""

    def __init__(self, conversations: Iterable[int]) -> None:
        done = TurnCorrection.objects.done().filter(turn__conversation__in=conversations).select_related("turn")
        self._now: StepWords = {}
        self._before: dict[int, list[tuple[datetime, str]]] = defaultdict(list)  # step -> until when it was told what
        made: dict[int, list[TurnCorrection]] = defaultdict(list)
        for one in done.order_by("-decided_at", "-pk"):
            made[one.turn.conversation_id].append(one)
        for conversation, corrections in made.items():
            self._read(conversation, corrections)

    def _read(self, conversation: int, corrections: list[TurnCorrection]) -> None:
        """Take back one correction after the other, the newest first."""
        steps = Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index")
        order = [*steps.values_list("pk", "turn__index")]
        place = {pk: number for number, (pk, _) in enumerate(order)}
        said = dict(Turn.objects.filter(conversation=conversation).values_list("index", "instruction"))
        begins: dict[int, int] = {}
        for pk, turn in order:
            begins.setdefault(turn, place[pk])
        self._now |= _by_step(place, begins, said)
        for one in corrections:
            assert one.decided_at is not None  # as it is done
            said[one.turn.index] = one.before.get("instruction", said[one.turn.index])
            first = place.get(one.before.get("first_step", 0))
            if first is not None:
                begins[one.turn.index] = first
            for step, words in _by_step(place, begins, said).items():
                self._before[step].append((one.decided_at, words))

    def at(self, step: int, time: datetime) -> str | None:
        """What was said at a step then; None where that is what its turn says now."""
        replaced = [words for until, words in self._before.get(step, ()) if until > time]
        return replaced[-1] if replaced and replaced[-1] != self._now[step] else None


def _by_step(place: dict[int, int], begins: dict[int, int], said: dict[int, str]) -> StepWords:
    found, turns = {}, sorted(begins.items())
    for step, number in place.items():
        turn = max((turn for turn, first in turns if first <= number), default=turns[0][0])
        found[step] = said[turn]
    return found
