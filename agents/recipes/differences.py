"""What a recipe changes of the packaged one that it is, or was derived from. Core."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agents.recipes.declaring import values_of
from agents.recipes.literature import RECIPES, Recipe, readable, with_preset


@lru_cache(maxsize=1000)  # a study shows the same recipes many times
def changed(recipe: Recipe, base: Recipe | None = None) -> dict[str, tuple[Any, Any]]:
    """Dotted name -> (value in `base`, value here) of each setting that differs. `base`: by default the one
    that it is `based_on`."""
    base = base or based_on(recipe)
    own, other = values_of(recipe), values_of(base)
    return {name: (other[name], value) for name, value in own.items() if other[name] != value}


def changed_settings(stored: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """`changed` of a recipe as a run stores it. Quirks that differ only by the preset are told as the preset. {} where
    it cannot be read any more."""
    recipe = readable(stored)
    if recipe is None:
        return {}
    base = based_on(recipe)
    if recipe.preset == base.preset:
        return changed(recipe)
    return {"preset": (base.preset, recipe.preset)} | changed(recipe, with_preset(base, recipe.preset))


def based_on(recipe: Recipe) -> Recipe:
    """The packaged recipe that it is or was derived from, else one with every default."""
    return RECIPES.get(base_name(vars(recipe))) or Recipe(recipe.name, "")


def base_name(stored: Mapping[str, Any]) -> str:
    """The name of the packaged recipe that a recipe, as its fields or as a run stores it, is or was derived from; ""
    where there is none."""
    line = (stored.get(key, "") for key in ("name", "parent", "origin"))
    return next((name for name in line if name in RECIPES), "")
