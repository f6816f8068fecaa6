"""What stages record for the replay, in the shape that its page reads. Core."""

from collections.abc import Iterable, Sequence
from typing import Any

from agents.types import RankedCandidate, Snippet

TRACED_CANDIDATES = 50


def traced_ranking(ranking: Sequence[RankedCandidate]) -> list[dict[str, Any]]:
    """The best candidates with their texts; scores of all are stored beside the trace."""
    return [
        {"node_id": candidate.node_id, "text": candidate.text, "score": round(candidate.score, 4)}
        for candidate in ranking[:TRACED_CANDIDATES]
    ]


def traced_snippets(snippets: Iterable[Snippet]) -> list[dict[str, Any]]:
    """Recalled snippets, in prompt order."""
    return [
        {
            "step": snippet.step,
            "turn_index": snippet.turn_index,
            "step_index": snippet.step_index,
            "instruction": snippet.instruction,
            "action": snippet.action,
            "similarity": None if snippet.similarity is None else round(snippet.similarity, 4),
        }
        for snippet in snippets
    ]
