"""The learned part of the guard: how much a control is like those that were labelled risky, by a model of a few
thousand numbers. Core.

It holds some of what the rules let pass, and lets pass some of what they hold; not what pays or deletes by them. Its
numbers, `learned.json`, are made by `manage.py guard_controls --train` (`evaluation/guard/learning.py`), of labelled
controls. It needs no other model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

from agents.guard.policy import KINDS, Risk

PACKAGED = Path(__file__).parent / "learned.json"
NUMBERS = ("risky", *KINDS)  # of each piece of evidence
LIKE = {
    "pay": "pay",
    "order": "order or book",
    "send": "send something",
    "delete": "delete",
    "publish": "publish",
    "personal": "hand in personal data",
}
ALWAYS_THERE = "any control"  # a piece of evidence that all have
LARGEST = 700.0  # whose power is still a number
TOLD = 3  # pieces of evidence that a reason names


@dataclass(frozen=True)
class LearnedPart:
    """For each piece of evidence how much it speaks for a risk, and how much for each kind of it; `holds_from`: how
    likely a risk must be to be held, `passes_below`: how unlikely one that rules see must be to pass; `learned_of`:
    what it was trained on, for people."""

    weights: Mapping[str, tuple[float, ...]]
    holds_from: float
    passes_below: float
    learned_of: Mapping[str, Any]

    def chance(self, evidence: Mapping[str, float]) -> float:
        """How likely a risk is."""
        return 1 / (1 + exp(-max(-LARGEST, self._sum(evidence, 0))))

    def kind_of(self, evidence: Mapping[str, float]) -> str:
        """Which kind of risk it would be."""
        return max(KINDS, key=lambda kind: self._sum(evidence, NUMBERS.index(kind)))

    def passes(self, evidence: Mapping[str, float]) -> str:
        """Why a control passes of which rules see a risk, with what speaks against one most; "" where it does not."""
        chance = self.chance(evidence)
        if chance >= self.passes_below:
            return ""
        return f"learned: risky with a chance of {chance:.2f} ({'; '.join(self._most(evidence, -1))})"

    def risk_of(self, name: str, evidence: Mapping[str, float]) -> Risk | None:
        """The risk of a control with this evidence, where it is likely enough, with what speaks for it most."""
        chance = self.chance(evidence)
        if chance < self.holds_from:
            return None
        kind = self.kind_of(evidence)
        why = f"“{name}” is much like controls that {LIKE[kind]} ({'; '.join(self._most(evidence, 1))})"
        return Risk(kind, why, "learned", round(chance, 3))

    def _most(self, evidence: Mapping[str, float], sign: int) -> list[str]:
        """The pieces of evidence that speak most for a risk (`sign` 1), or against one (-1)."""
        known = (piece for piece in evidence if piece in self.weights and piece != ALWAYS_THERE)
        gains = {piece: sign * evidence[piece] * self.weights[piece][0] for piece in known}
        return sorted((piece for piece in gains if gains[piece] > 0), key=lambda piece: -gains[piece])[:TOLD]

    def _sum(self, evidence: Mapping[str, float], place: int) -> float:
        known = ((self.weights[piece], amount) for piece, amount in evidence.items() if piece in self.weights)
        return sum(numbers[place] * amount for numbers, amount in known)


@cache
def packaged() -> LearnedPart:
    """The packaged numbers. ValueError where they are of other kinds of risk than the guard knows."""
    return read(PACKAGED)


def read(path: Path) -> LearnedPart:
    told = json.loads(path.read_text("utf-8"))
    if tuple(told["numbers"]) != NUMBERS:
        raise ValueError(f"{path.name} has numbers of {told['numbers']}: train it anew (guard_controls --train)")
    weights = {piece: tuple(numbers) for piece, numbers in told["weights"].items()}
    return LearnedPart(weights, float(told["holds_from"]), float(told["passes_below"]), told["learned_of"])
