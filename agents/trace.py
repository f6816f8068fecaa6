"""What stages record for the replay, in the shape that its page reads. Core."""

from collections.abc import Iterable, Sequence
from typing import Any

from agents.recipes.literature import Recipe
from agents.types import Action, Observation, RankedCandidate, Snippet

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


def traced_choice(
    recipe: Recipe,
    observation: Observation,
    elements: int,
    ranking: Sequence[RankedCandidate],
    recalled: tuple[str, Sequence[Snippet]],
    action: Action,
    why: dict[str, str],
) -> dict[str, Any]:
    """The stages of an agent that acts on its best candidate without a prompt. `elements`: how many the page has;
    `recalled`: the text that memory was asked with, and what it gave."""
    query, snippets = recalled
    value = f": {action.value}" if action.value else ""
    return {
        "observe": {"elements": elements, "candidates": len(ranking)},
        "rank": {"query": observation.instruction, "top": traced_ranking(ranking)},
        "recall": {"query": query, "kind": recipe.recall.memory, "snippets": traced_snippets(snippets)},
        "simplify": {"kept": min(recipe.rank.top_k, len(ranking))},
        "plan": {"why": why},
        "act": {"representation": f"{ranking[0].text} → {action.operation}{value}"},
    }
