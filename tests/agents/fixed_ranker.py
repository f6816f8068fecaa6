"""A ranker that says the same of every page."""

from collections.abc import Sequence

from agents.types import Observation, RankedCandidate


class FixedRanker:
    """In place of weights."""

    def __init__(self, *ranking: RankedCandidate) -> None:
        self.ranking = ranking

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [self.ranking for _ in observations]
