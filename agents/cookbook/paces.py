"""How long a step takes of agents that nobody has run here: by those that ask the same model, and as measured."""

from functools import cached_property

from agents.cookbook.lacking import asks_endpoint
from agents.llm import connection, embedded
from agents.models.runs import RunQuerySet
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of

NOBODY = ""  # is asked
# Seconds of a step, least and most, of agents that ask this model: measured on two cores that other programs shared.
MEASURED = {NOBODY: (0.01, 1.0), embedded.SMOLLM2: (1.0, 9.0)}

PaceSpan = tuple[float, float]


class KnownPaces:
    """What a step took of each agent that has run here, among the runs `ran`. Read once, when it is first needed."""

    def __init__(self, ran: RunQuerySet) -> None:
        self.ran = ran

    def span(self, recipe: Recipe) -> PaceSpan | None:
        """The seconds of a step, least and most, of agents that ask the model that this one asks; None where nobody has
        asked it."""
        asked = asked_of(recipe)
        known = [*self._by_model.get(asked, ()), *MEASURED.get(asked, ())]
        return (min(known), max(known)) if known else None

    @cached_property
    def _by_model(self) -> dict[str, list[float]]:
        """The model that is asked -> the seconds of a step of each agent that asks it."""
        found: dict[str, list[float]] = {}
        for stored, seconds in self.ran.newest_paces():
            if (recipe := literature.readable(stored)) is not None:
                found.setdefault(asked_of(recipe), []).append(seconds)
        return found


def asked_of(recipe: Recipe) -> str:
    """The model, or the weights, that answer the prompts of a recipe that is filled with starters; NOBODY where it has
    none."""
    if planner_of(recipe).asks and recipe.plan.backend == "local":
        return recipe.plan.model or recipe.plan.base
    if not asks_endpoint(recipe):
        return NOBODY
    named = literature.asked_model(recipe)
    return connection.embedded_model(named) or named or "the installation's model"
