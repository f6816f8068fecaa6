"""Group judged steps by turn and conversation, and average any metric over any of the three.

Every mean is kept as per-conversation sums and counts, because the bootstrap draws conversations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics import METRICS, Unit
from evaluation.metrics.outcomes import StepOutcome


@dataclass(frozen=True)
class RatioColumn:
    """One value to report: sum(numerators) / sum(denominators), one row per conversation."""

    numerators: np.ndarray
    denominators: np.ndarray

    @property
    def n(self) -> int:
        """How many steps, turns or conversations the value is a mean over."""
        return int(self.denominators.sum())

    @property
    def value(self) -> float:
        """The mean; 0.0 when there is nothing to average."""
        return float(self.numerators.sum() / self.n) if self.n else 0.0


class Groups:
    """Steps with the turn and conversation of each; conversations are sorted by id, so row order changes nothing.

    `index[unit, group]` is an array that gives, for each unit, the number of the group it belongs to.
    """

    def __init__(self, outcomes: Sequence[StepOutcome]):
        self.steps = sorted(outcomes, key=lambda step: step.position)
        self.conversations = sorted({step.conversation for step in self.steps})
        self.turns = sorted({(step.conversation, step.turn) for step in self.steps})
        conversation_number = {conversation: number for number, conversation in enumerate(self.conversations)}
        turn_number = {turn: number for number, turn in enumerate(self.turns)}
        of_turn = _integers([conversation_number[conversation] for conversation, _ in self.turns])
        step_turn = _integers([turn_number[step.conversation, step.turn] for step in self.steps])
        self.index = {
            ("step", "step"): np.arange(len(self.steps)),
            ("step", "turn"): step_turn,
            ("step", "conversation"): of_turn[step_turn],
            ("turn", "conversation"): of_turn,
            ("conversation", "conversation"): np.arange(len(self.conversations)),
        }
        self._values: dict[str, np.ndarray] = {}  # a metric is judged once and averaged over several groupings

    def values(self, metric: str) -> np.ndarray:
        """The metric's value of each of its units, in the units' order."""
        if metric not in self._values:
            self._values[metric] = self._judge(metric)
        return self._values[metric]

    def _judge(self, metric: str) -> np.ndarray:
        definition = METRICS[metric]
        if definition.unit == "step":
            return np.array([definition.judge(step) for step in self.steps], dtype=float)
        members: list[list[bool]] = [[] for _ in (self.turns if definition.unit == "turn" else self.conversations)]
        for step, number in zip(self.steps, self.index["step", definition.unit], strict=True):
            members[number].append(step.success)
        return np.array([definition.judge(steps) for steps in members], dtype=float)

    def column(self, metric: str, grouping: Unit) -> RatioColumn:
        """The mean of a metric over steps, turns or conversations (each group first averages its own units)."""
        values = self.values(metric)
        unit = METRICS[metric].unit
        if unit != grouping:
            index = self.index[unit, grouping]
            values = np.bincount(index, weights=values) / np.bincount(index)
        owners = self.index[grouping, "conversation"]
        return RatioColumn(np.bincount(owners, weights=values), np.bincount(owners).astype(float))


def _integers(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.intp)
