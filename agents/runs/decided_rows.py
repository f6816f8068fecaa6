"""Turns a decision into a row: what it chose, what it looked at and what it took. The caller adds what came of it."""

from dataclasses import asdict
from typing import Any

from agents.models import TrajectoryStep
from agents.types import Action, Decision

STORED_CANDIDATES = 200


def decided_row(decision: Decision, action: Action | None, **became: Any) -> TrajectoryStep:
    """The row of one action of a decision, not stored yet; `became` are the fields that the decision does not know."""
    shown = decision.ranking[:STORED_CANDIDATES]
    return TrajectoryStep(
        operation=action.operation if action else "",
        node_id=(action.node_id or "") if action else "",
        value=action.value if action else "",
        candidate_ids=[candidate.node_id for candidate in shown],
        candidate_scores=[round(candidate.score, 5) for candidate in shown],
        error=decision.error,
        trace=decision.trace,
        branches=[asdict(branch) for branch in decision.branches],
        **became,
    )


def count_once(decision: Decision, row: TrajectoryStep) -> None:
    """Write what the decision took (calls, tokens, cost, seconds) to `row`, its first one, so that it is counted
    once."""
    usage = decision.usage
    row.calls, row.cost = usage.calls, usage.cost
    row.prompt_tokens, row.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    row.exemplar_ids, row.workflow_ids = list(decision.exemplar_ids), list(decision.workflow_ids)
    row.trace = row.trace | {"seconds": {stage: round(value, 5) for stage, value in decision.seconds.items()}}
