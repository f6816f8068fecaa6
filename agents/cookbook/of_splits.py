"""Settings that a paper chose for one split alone, as far as a recipe uses them as the published one does. Core."""

from agents.recipes import published
from agents.recipes.differences import based_on
from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from agents.stages.registry import planner_of, predicts_objective, recipe_kinds


def chosen_for(recipe: Recipe, split: str) -> dict[str, str]:
    """Dotted name -> value of the settings that the paper of a recipe, or of the packaged one that it was derived from,
    chose for this split, where the same kinds of stages read them, of what is searched by the same query, for the same
    planner: of others it says nothing."""
    packaged = based_on(recipe)
    alike = planner_of(recipe) is planner_of(packaged) and predicts_objective(recipe) == predicts_objective(packaged)
    chosen = published.settings_on(packaged.name, split) if alike else {}
    return {name: value for name, value in chosen.items() if _readers(name, recipe) == _readers(name, packaged)}


def _readers(name: str, recipe: Recipe) -> set[type[StageKind]]:
    return {kind for kind in recipe_kinds(recipe) if name in kind.reads}
