"""What a training takes of a recipe, checked before it starts, whoever starts it. Shell."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from agents.cookbook import saved
from agents.recipes import differences
from agents.recipes.declaring import declarations, value_of, values_of, with_values
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of
from agents.training.settings import OF_KIND, OF_TRANSITIONS, learning


def as_asked(recipe: Recipe) -> Recipe:
    """The recipe with its planner's model run here instead of at an endpoint."""
    if not planner_of(recipe).asks:
        return recipe
    return replace(recipe, plan=with_values(recipe.plan, backend="local"))


def check_followed(
    recipe: Recipe, kind: str, changes: Mapping[str, object], given: Collection[str], *, of_turns: bool
) -> None:
    """ValueError for a setting by which the recipe differs from the one of its name and that the training does not
    read, and for one that is given by both its names: that of the recipe, among `given` or where it differs, and that
    of the training, among `changes`."""
    parent = _of_its_name(recipe)
    parent = as_asked(parent) if recipe == as_asked(recipe) else parent  # else it is asked of an endpoint on purpose
    other = [name for name, value in values_of(recipe).items() if value != value_of(parent, name)]
    if said := _given_twice(kind, {*given, *other}, changes):
        raise ValueError(said)
    if other:
        learning(recipe, kind, dict(changes), of_turns).check(parent, [*given, *other])


def _of_its_name(recipe: Recipe) -> Recipe:
    """The recipe as it was before somebody changed it for one training."""
    try:
        return saved.get(recipe.name)
    except ValueError:
        return differences.based_on(recipe)


def _given_twice(kind: str, given: Collection[str], changes: Mapping[str, object]) -> str:
    """The first setting that is given both for the recipe and for the training, in a sentence; "" where none is."""
    of_recipe = kind in OF_KIND and changes.get("paradigm") not in OF_TRANSITIONS  # these take nothing else of it
    names = declarations(OF_KIND[kind]) if of_recipe else {}
    twice = [(names[name].repeats, name) for name in changes if name in names and names[name].repeats in given]
    return f"{twice[0][0]} and {twice[0][1]} are two names of one setting: give one of them" if twice else ""
