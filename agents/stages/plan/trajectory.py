"""`plan.kind=trajectory`: Synapse, AWM and MIMS continue the trajectory with the next action. Core."""

from collections.abc import Sequence
from typing import Any

from agents.recipes.literature import Recipe
from agents.stages.compose.trajectories import Trajectories
from agents.stages.kind import StageKind
from agents.stages.plan.kinds import AskingPlanner
from agents.stages.plan.trajectory_parse import bare_act, in_backticks, parse_act
from agents.stages.simplify.around import AroundBest
from agents.stages.state import StepState
from agents.types import Action


class NextAction(AskingPlanner):
    """One reply: the first action in backticks."""

    fails_unasked = True

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return AroundBest, Trajectories

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "causal", {
            "paradigm": "trajectory",
            "max_length": recipe.compose.max_tokens,
            "max_new_tokens": recipe.plan.max_new_tokens,
        }

    def run(self, states: Sequence[StepState]) -> None:
        for state, generated in self.generate(states):
            text = in_backticks(generated.text)
            if not text and not self.recipe.compose.trajectory:
                text = bare_act(generated.text)
            act = parse_act(text)
            state.note("plan", kind="trajectory", reply=generated.text, text=text)
            if generated.error:
                state.fail(generated.error)
            else:
                found = Action(act.operation or "", act.node_id, act.value or "") if act.node_id is not None else None
                state.close(found)
