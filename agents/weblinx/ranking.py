"""Rank the candidate elements of a turn by their scores (A5.2)."""

from collections.abc import Iterable


def element_ranks(scored: Iterable[tuple[str, float]]) -> dict[str, int]:
    """uid -> rank from 1, best score first, from (uid, score) pairs in document order.

    A repeated uid keeps its first place and its last score; ties go to the earlier place.
    """
    scores = dict(scored)
    return {uid: rank for rank, uid in enumerate(sorted(scores, key=lambda uid: -scores[uid]), start=1)}
