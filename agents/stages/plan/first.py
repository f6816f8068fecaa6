"""`plan.kind=first`: the best-ranked element, without an operation (the DeBERTa row; dense markup ranking). Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.plan.kinds import Planning
from agents.stages.rank.kinds import has_own_page
from agents.stages.state import StepState
from agents.types import Action


class FirstElement(Planning):
    """Takes the best-ranked element; there is no planner."""

    ranks_only = takes_best = True
    reads = frozenset({"rank.top_k"})  # of recorded WebLINX turns, where the ranking itself is judged

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "Takes the best-ranked element; there is no operation or value."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "1 element"

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.note("plan", kind=self.recipe.plan.kind)
            if state.ranking:
                state.close(Action("", state.ranking[0].node_id))
            elif has_own_page(state.observation):
                state.fail("the page has no element to choose from")
            else:
                state.close(None)  # an utterance before the first page: nothing to rank, and nothing wrong
