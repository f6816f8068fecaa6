"""Where an agent that somebody talks with stops by itself: it would guess, or do what it has done in this turn already.

No recipe knows when a turn is done. A person who looks on would see it go on at random, up to the limit of the turn,
and undo what it did. What a trained planner trusts tells: it learned no step behind the last of a turn.
"""

from dataclasses import replace
from math import exp

from agents.live.under_way import LiveEpisode
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of
from agents.types import Action, Decision

# Of a trained planner's trust in its best element. Nothing of a turn is done before its first action, which is thus
# only left where it is rather wrong than right. Later, two that it trusts together are what is left in either order.
FIRST, SURE, BOTH = 0.5, 0.85, 0.95


def stopped(recipe: Recipe, episode: LiveEpisode, decision: Decision) -> Decision:
    """The decision, or to stop in its place, with the reason in words. Episodes whose user is no person, and what
    people who stopped it are shown, stay as they are."""
    action = next(iter(decision.actions), None)
    if action is None or action.operation in ("SAY", "STOP") or not episode.is_typed or episode.drive is not None:
        return decision
    act = dict(decision.trace.get("act", {}))
    why = _why_stop(recipe, episode, decision, str(act.get("representation") or episode.words_of(action)))
    if not why:
        return decision
    act.pop("held", None)
    stop = Action("STOP")
    act |= {"representation": episode.words_of(stop), "stopped": why}
    return replace(decision, actions=(stop,), trace=decision.trace | {"act": act})


def _why_stop(recipe: Recipe, episode: LiveEpisode, decision: Decision, words: str) -> str:
    """Why the agent should stop and not do what these words say; "" where it should not."""
    action = decision.actions[0]
    done = [(past.operation, past.node_id, past.value) for past in (step.action for step in episode.steps)]
    if (action.operation, action.node_id, action.value) in done:
        return f"It would do “{words}” again."
    if planner_of(recipe).scores_by_shares(recipe) and decision.ranking:
        share, next_share = [*(exp(one.score) for one in decision.ranking[:2]), 0.0][:2]
        if share < FIRST or (done and share < SURE and share + next_share < BOTH):
            return f"Nothing is clearly next: it would do “{words}”, and trusts that with {share:.0%} alone."
    return ""
