"""Recipes by name: those of the literature, and those that people derived from them and saved."""

import dataclasses

from agents.cookbook import checking
from agents.cookbook.named_models import check_base
from agents.encoders import weights
from agents.models import SavedRecipe
from agents.models.recipes import SavedRecipeQuerySet
from agents.recipes import literature
from agents.recipes.literature import RECIPES, Recipe
from annotations.access import rules
from annotations.models.accounts.projects import User

OWN = "Derived here"
PACKAGED = "Comes with WebNav"


def get(name: str, user: User | None = None) -> Recipe:
    """The recipe of that name; a user gets saved ones of their projects only. ValueError lists the choices."""
    if name in RECIPES:
        return RECIPES[name]
    rows = saved(user)
    row = rows.filter(name=name).first()
    if row is None:
        raise ValueError(f"there is no recipe {name!r}; choose one of {', '.join([*RECIPES, *rows.names()])}")
    return load(row)


def names(user: User | None = None) -> set[str]:
    """The names of the recipes that have a page for this user."""
    return {*RECIPES, *saved(user).names()}


def listed(user: User | None = None) -> list[Recipe]:
    """Every recipe, the literature first. A saved recipe that cannot be read any more has the reason in `needs`."""
    found = list(RECIPES.values())
    for row in saved(user).order_by("name"):
        try:
            found.append(load(row))
        except ValueError as error:
            needs = (f"its settings to be corrected: {error}",)
            found.append(Recipe(row.name, row.description, parent=row.parent, needs=needs))
    return found


def saved(user: User | None = None) -> SavedRecipeQuerySet:
    """The saved recipes that exist for a user; None: all, for the command line."""
    rows = SavedRecipe.objects.all()
    return rows if user is None else rows.filter(project__in=rules.projects(user))


def load(row: SavedRecipe) -> Recipe:
    """A saved recipe: its parent with its settings. ValueError when either cannot be read any more."""
    parent = RECIPES.get(row.parent)
    if parent is None:
        other = SavedRecipe.objects.filter(name=row.parent).exclude(pk__gte=row.pk).first()  # parents are older
        if other is None:
            raise ValueError(f"its parent {row.parent!r} does not exist any more")
        parent = load(other)
    return _derived(parent, row.name, row.description, row.changes, are_stored=True)


def derive(parent: Recipe, name: str, description: str, settings: dict[str, str]) -> Recipe:
    """The parent with settings changed by dotted name, values as text. ValueError names what is wrong, or would change
    nothing."""
    found = _derived(parent, name, description, settings, are_stored=False)
    checking.check(parent, found, list(settings))
    check_base(found, settings)
    return found


def _derived(parent: Recipe, name: str, description: str, settings: dict[str, str], *, are_stored: bool) -> Recipe:
    """A derived recipe, also from settings that are stored: it is not checked whether each setting is read."""
    weights.require_open(settings)
    changed = literature.override(parent, settings, are_stored=are_stored)
    origin = "" if parent.name in RECIPES else parent.origin or parent.parent
    return dataclasses.replace(changed, name=name, description=description, parent=parent.name, origin=origin, paper="")


def parent_of(recipe: Recipe, user: User | None = None) -> Recipe | None:
    """The recipe it varies; None for one that varies no other, or one that this user may not see."""
    try:
        return get(recipe.parent, user) if recipe.parent else None
    except ValueError:
        return None


def ancestors(recipe: Recipe, user: User | None = None) -> list[Recipe]:
    """The recipes that it varies, nearest first, as far as this user may see them."""
    found = []
    while parent := parent_of(recipe, user):
        found.append(recipe := parent)
    return found


def families(found: list[Recipe]) -> dict[str, list[Recipe]]:
    """Recipes by the paper that describes them; those derived here last."""
    grouped: dict[str, list[Recipe]] = {}
    for recipe in found:
        grouped.setdefault(family(recipe), []).append(recipe)
    return grouped


def family(recipe: Recipe) -> str:
    """The paper that describes a recipe; for the others whether it comes with WebNav or was derived here."""
    return recipe.paper or (PACKAGED if recipe.name in RECIPES else OWN)
