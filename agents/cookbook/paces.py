"""How long a step takes of agents that nobody has run here: by those that ask the same model, and as measured."""

from collections.abc import Sequence
from functools import cached_property

from agents.cookbook.lacking import asks_endpoint
from agents.cookbook.starters import with_starters
from agents.encoders.cached_answers import once
from agents.llm import connection, embedded
from agents.models.runs import Run, RunQuerySet
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of

NOBODY = ""  # is asked
# Seconds of a step, least and most, of agents that ask this model: measured on two cores that other programs shared.
MEASURED = {NOBODY: (0.01, 2.0), embedded.SMOLLM2: (1.0, 9.0)}

PaceSpan = tuple[float, float]


class KnownPaces:
    """What a step took of each agent that has run here, among the runs `ran`. Read once, when it is first needed."""

    def __init__(self, ran: RunQuerySet) -> None:
        self.ran = ran

    def span(self, recipe: Recipe) -> PaceSpan | None:
        """The seconds of a step, least and most, of agents that plan alike; where none has run, of all that ask the
        model that this one asks; None where nobody has asked it."""
        asked, alike = asked_of(recipe), _way_of(recipe)
        known = [seconds for way, seconds in self._known if way == alike]
        if not known:
            known = [seconds for way, seconds in self._known if way[0] == asked] + [*MEASURED.get(asked, ())]
        return (min(known), max(known)) if known else None

    @cached_property
    def _known(self) -> list[tuple[tuple[str, ...], float]]:
        """(how it plans, the seconds of a step) of each agent."""
        read = [(literature.readable(stored), seconds) for stored, seconds in self.ran.newest_paces()]
        return [(_way_of(recipe), seconds) for recipe, seconds in read if recipe is not None]


def _way_of(recipe: Recipe) -> tuple[str, ...]:
    """What decides about how long a recipe takes: the model that it asks, and how; where it asks none, how it ranks."""
    asked = asked_of(recipe)
    return (asked, recipe.plan.kind) if asked else (asked, recipe.plan.kind, recipe.rank.kind)


def work_of(recipes: Sequence[str], steps: int) -> PaceSpan | None:
    """The seconds, least and most, that these packaged recipes take to decide so many steps each, as they run here;
    None where it is not known of one, or one is gone."""
    if not literature.RECIPES.keys() >= set(recipes):
        return None
    own, paces, least, most = Run.objects.seconds_per_step_of(recipes), KnownPaces(Run.objects.all()), 0.0, 0.0
    with once():
        for name in recipes:
            took = (own[name], own[name]) if name in own else paces.span(with_starters(literature.get(name)))
            if took is None:
                return None
            least, most = least + steps * took[0], most + steps * took[1]
    return least, most


def asked_of(recipe: Recipe) -> str:
    """The model, or the weights, that answer the prompts of a recipe that is filled with starters; NOBODY where it has
    none."""
    if planner_of(recipe).asks and recipe.plan.backend == "local":
        return recipe.plan.model or recipe.plan.base
    if not asks_endpoint(recipe):
        return NOBODY
    named = literature.asked_model(recipe)
    return connection.embedded_model(named) or named or "the installation's model"
