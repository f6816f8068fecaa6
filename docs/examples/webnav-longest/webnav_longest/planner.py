"""`plan.kind=longest`: of the best-ranked elements the one with the longest text is clicked."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.plan.kinds import Planning
from agents.stages.state import StepState
from agents.types import Action


class LongestText(Planning):
    """No model: the longest text of the `rank.top_k` best elements."""

    reads = frozenset({"rank.top_k"})

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Clicks the longest text of the {recipe.rank.top_k} best elements; there is no value."

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {"longest": "Nobody has published it: the longest text is right by luck."}

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            shown = state.ranking[: self.recipe.rank.top_k]
            if not shown:
                state.fail("the page has no element to choose from")
                continue
            longest = max(shown, key=lambda candidate: len(candidate.text))
            state.note("plan", kind="longest", why={"element": f"{len(longest.text)} characters"})
            state.close(Action("CLICK", longest.node_id))
