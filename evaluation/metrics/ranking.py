"""Ranking metrics: where the first gold element stands among the ranked candidates.

Ranks are 0-based. A gold element that was pruned from the page or never ranked has rank None and is a miss in
every metric: leaving such steps out would hide what the ranker loses.
"""

from collections.abc import Iterable, Mapping, Sequence

PUBLISHED_CUTS = (3, 5, 10, 20, 50, 100)
PUBLISHED_MRR_CUT = 50


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Candidate id -> rank, best score first.

    Ties keep the mapping's order; loaders list positives first, so ties favour positives (Q4, published).
    """
    order = sorted(scores, key=lambda candidate: -scores[candidate])
    return {candidate: rank for rank, candidate in enumerate(order)}


def gold_rank(ranked: Mapping[str, int], positives: Iterable[str]) -> int | None:
    """Rank of the best positive; None when no positive was ranked."""
    return min((ranked[positive] for positive in positives if positive in ranked), default=None)


def recall_at(rank: int | None, k: int) -> float:
    """1.0 when the best positive is among the first k. The papers' "recall" is this hit rate (planners spec 3)."""
    return float(rank is not None and rank < k)


def reciprocal_rank(rank: int | None, cut: int | None = None) -> float:
    """1 / (rank + 1); 0.0 for a miss and, with a `cut`, for ranks from `cut` on."""
    if rank is None or (cut is not None and rank >= cut):
        return 0.0
    return 1 / (rank + 1)


def evaluate_ranking(gold_ranks: Sequence[int | None]) -> dict[str, float]:
    """The result of the published cross-encoder evaluator: means over all steps of mrr (cut at 50), acc and recall@k.

    One rank per step; a step without positives is None and stays in the denominator. Zeros for no steps.
    """
    steps = max(len(gold_ranks), 1)
    result = {
        "mrr": sum(reciprocal_rank(rank, PUBLISHED_MRR_CUT) for rank in gold_ranks) / steps,
        "acc": sum(recall_at(rank, 1) for rank in gold_ranks) / steps,
    }
    for k in PUBLISHED_CUTS:
        result[f"recall@{k}"] = sum(recall_at(rank, k) for rank in gold_ranks) / steps
    return result
