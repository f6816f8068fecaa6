"""The examples of rankers and planners, and how they are drawn. Core: frozen data and pure functions.

Random numbers come from the seed, the epoch and the place of the example, so that a training which goes on after it was
killed draws the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from agents.types import PromptWorkflow
from agents.words.past_step import PastStep


@dataclass(frozen=True, slots=True)
class RankingStep:
    """A step as a ranker sees it: its query, and the texts of its gold elements and of all others."""

    group: int  # conversation
    query: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanningStep:
    """A step as a planner sees it, with the recalled past steps in prompt order."""

    current: PastStep
    memory: tuple[PastStep, ...] = ()
    exemplars: tuple[PastStep, ...] = ()
    workflows: tuple[PromptWorkflow, ...] = ()


class PlanningRows(Protocol):
    """Steps that are read when they are needed, as a dataset's pages do not fit into memory."""

    def __len__(self) -> int: ...

    def get(self, indices: Sequence[int]) -> list[PlanningStep]: ...


def generator(*parts: int | str) -> Random:
    """Random numbers that depend on these parts alone, on every machine."""
    return Random("/".join(map(str, parts)))


def cross_encoder_draws(positives: int, negatives: int, neg_ratio: int, rng: Random) -> list[tuple[int, int]]:
    """One epoch's (index, label) of a step (sources.md M3): one random positive, then `neg_ratio` random
    negatives with replacement. Indices count the positives first; without negatives every draw is a positive."""
    draws = []
    for place in range(1 + neg_ratio):
        if place == 0 or not negatives:
            draws.append((rng.randrange(positives), 1))
        else:
            draws.append((positives + rng.randrange(negatives), 0))
    return draws


def dual_encoder_draws(positives: int, negatives: int, max_negatives: int, rng: Random) -> list[tuple[int, int]]:
    """The (index, label) of a step (sources.md A5.1): every positive, then at most `max_negatives` of the negatives
    without replacement; all of them, in order, when there are no more. Indices count the positives first."""
    chosen = range(negatives) if negatives <= max_negatives else rng.sample(range(negatives), max_negatives)
    return [(index, 1) for index in range(positives)] + [(positives + index, 0) for index in chosen]


@dataclass(frozen=True, slots=True)
class CandidateDraw:
    """How the candidates of a training sample are drawn (sources.md M4.3)."""

    num_candidates: int = 5
    none_ratio: float = 0.2
    top_k: int = -1  # above 0: negatives of 4 samples in 5 come from the first so many, otherwise from the rest

    def draw(
        self, positives: Sequence[str], negatives: Sequence[tuple[str, int]], rng: Random
    ) -> tuple[str | None, list[str]]:
        """The gold element, or None for the answer "none", and the negatives; `negatives` are (id, rank from 0)."""
        from_top, none = rng.random(), rng.random()
        top = [node_id for node_id, rank in negatives if 0 <= rank < self.top_k]
        other = [node_id for node_id, rank in negatives if not 0 <= rank < self.top_k]
        pool = top if top and (from_top < 0.8 or not other) else other
        if positives and (none > self.none_ratio or not pool):
            gold = rng.choice(positives)
            return gold, rng.sample(pool, min(self.num_candidates - 1, len(pool)))
        return None, rng.sample(pool, min(self.num_candidates, len(pool)))
