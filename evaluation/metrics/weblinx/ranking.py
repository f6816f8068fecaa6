"""Ranking metrics of WebLINX (A5.2): micro averages over positive elements, not over turns.

Unlike in `evaluation.metrics.ranking`, a turn without a positive candidate is not a miss: it is not counted.
"""

from collections.abc import Sequence
from statistics import fmean, pstdev

CUTS = (1, 5, 10, 20, 50, 100, 200)
MRR_CUT = 50


def recall_at(ranks: Sequence[int], k: int) -> float:
    """Share of the positive elements ranked k or better (ranks from 1); 0.0 for no positives."""
    return sum(rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def mrr_at(ranks: Sequence[int], cut: int = MRR_CUT) -> float:
    """Mean of 1 / rank over the positive elements, 0 beyond the cut; 0.0 for no positives."""
    return sum(1 / rank for rank in ranks if rank <= cut) / len(ranks) if ranks else 0.0


def evaluate_elements(
    positive_ranks: Sequence[int], elements_per_turn: Sequence[int], *, faithful: bool = True
) -> dict[str, float]:
    """recall@k for the published cuts, mrr@50, and how many elements the turns had.

    `positive_ranks` has one rank per positive element of any turn; `elements_per_turn` one number per turn. Without
    a positive element anywhere the published code divides by zero, and so does `faithful`; else there are zeros.
    """
    if faithful and not positive_ranks:
        raise ZeroDivisionError("no candidate of any turn is a gold element, so there is no recall to compute")
    result = {f"recall@{k}": recall_at(positive_ranks, k) for k in CUTS}
    return result | {
        "mrr@50": mrr_at(positive_ranks),
        "num_turns": len(elements_per_turn),
        "avg_elements_per_turn": fmean(elements_per_turn) if elements_per_turn else 0.0,
        "std_elements_per_turn": pstdev(elements_per_turn) if elements_per_turn else 0.0,
    }
