"""What is done in the end, as people read it. Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from agents.stages.state import StepState
from agents.types import Action, RankedCandidate


class TakenAction(StageKind):
    """The planner's action; the next step starts from the recorded page, whatever was chosen."""

    stage = "act"

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "1 action, judged"

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.note("act", representation=told(state.action, state.ranking) if state.action else "none")
            if state.written and state.action != state.drawn[0]:  # it was chosen among samples
                written = dict(zip(reversed(state.drawn), reversed(state.written), strict=True))
                state.note("act", text=written.get(state.action, ""))


def told(action: Action, ranking: Sequence[RankedCandidate]) -> str:
    """ "button Search → CLICK", as people read an action; the id stands in for an element that was not ranked."""
    text = next((candidate.text for candidate in ranking if candidate.node_id == action.node_id), "")
    done = action.operation + (f": {action.value}" if action.value else "")
    return f"{text or action.node_id or ''} → {done}".removesuffix(" → ").strip()
