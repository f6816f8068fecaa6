"""Recall and false alarms of a detector, from labels of a random part of each stratum.

Where risky things are rare, a plain sample holds too few of them. Drawing more from where they are likely, and weighing
each stratum by its size, keeps what is counted unbiased, and so, but for few labels, the shares (Horvitz
and Thompson 1952). The interval is
Bayesian with Jeffreys' prior in every cell, so that a large stratum in which nothing risky was found still widens it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.judged import EstimatedRate

DRAWS, PRIOR = 4000, 0.5


@dataclass(frozen=True)
class Stratum:
    """How many things it has, and of the labelled ones: how many are risky and harmless among those that are held and
    among those that pass. `left_out`: labelled, but counted as neither."""

    size: int
    held_risky: int = 0
    held_harmless: int = 0
    passed_risky: int = 0
    passed_harmless: int = 0
    left_out: int = 0

    @property
    def counted(self) -> int:
        return self.held_risky + self.held_harmless + self.passed_risky + self.passed_harmless

    @property
    def weight(self) -> float:
        """How many things each counted one stands for; 0 where none is counted."""
        return self.size / (self.counted + self.left_out) if self.counted else 0.0

    @property
    def cells(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self.held_risky, self.held_harmless), (self.passed_risky, self.passed_harmless)


def weighted_shares(strata: Sequence[Stratum]) -> tuple[EstimatedRate | None, EstimatedRate | None]:
    """Recall (risky things that are held) and false alarms (harmless things that are held), each with a 95 % interval;
    None where no labelled thing is risky, or harmless. Strata without a label count for nothing: they are not known."""
    rng = np.random.default_rng(0)
    value, drawn = np.zeros((2, 2)), np.zeros((2, 2, DRAWS))  # held or passed; risky or harmless
    for one in strata:
        for row, (risky, harmless) in enumerate(one.cells):
            if not risky + harmless:
                continue
            value[row] += one.weight * np.array([risky, harmless])
            risky_share = rng.beta(risky + PRIOR, harmless + PRIOR, DRAWS)
            drawn[row] += one.weight * (risky + harmless) * np.stack([risky_share, 1 - risky_share])
    found: list[EstimatedRate | None] = []
    for column in (0, 1):
        n = sum(cell[column] for one in strata for cell in one.cells)
        if not n:
            found.append(None)
            continue
        share = float(value[0, column] / value[:, column].sum())
        shares = drawn[0, column] / drawn[:, column].sum(axis=0)
        low, high = (float(bound) for bound in np.quantile(shares, (0.025, 0.975)))
        found.append(EstimatedRate(share, min(share, low), max(share, high), n))
    return found[0], found[1]
