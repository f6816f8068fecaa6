"""Element accuracy: is the chosen element one of the gold ones."""

from collections.abc import Collection


def element_accuracy(predicted: str | None, positives: Collection[str]) -> float:
    """1.0 when the predicted backend node id is among `positives`, else 0.0 (planners spec 6.2).

    0.0 when nothing was predicted or there is no positive. The caller decides which positives count: those with
    rank < top_k for MindAct and Self-MAP, only the first one for Synapse and AWM (Q19, Q26).
    """
    return float(predicted is not None and predicted in positives)
