"""What a recipe was derived by counts beside what is changed later, as if both were set at once, in either order."""

import dataclasses
import random
from collections.abc import Iterator

import pytest

from agents.cookbook import checking
from agents.recipes.declaring import Declared, settings_of, value_of, values_of
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.known import kinds
from tests.quick import first_is_quick

BASES = {"rank.base", "plan.base"}  # beside weights that are named, what these were trained from decides
SHARE = 25  # of the pairs of a recipe, one of so many is tried


def derived(parent: Recipe, **changes: str) -> Recipe:
    settings = {name.replace("__", "."): value for name, value in changes.items()}
    return dataclasses.replace(checking.vary(parent, settings), name="own", parent=parent.name)


def answer(parent: Recipe, changes: dict[str, str]) -> dict[str, object] | None:
    """The settings that run where a change is taken; None where it is refused."""
    try:
        return values_of(checking.vary(parent, changes))
    except ValueError:
        return None


def others(name: str, declared: Declared, value: object) -> Iterator[str]:
    """Other values of a setting: every kind and choice, both sides of a switch, none and more of what is counted."""
    if declared.kind is bool:
        yield str(not value).lower()
    elif declared.choices or name in kinds():
        yield from (one for one in declared.choices or kinds()[name] if one != value)
    elif declared.kind is str:
        yield "other"
    elif declared.kind is int:
        yield from (one for one in ("0", "1", "2", "7") if one != str(value))
    else:
        yield from (one for one in ("0", "0.37") if one != str(value))


def single_changes(parent: Recipe) -> dict[tuple[str, str], Recipe]:
    """Each change of one setting that is taken, with what somebody derives by it."""
    found = {}
    for name, declared in settings_of(Recipe).items():
        for value in others(name, declared, value_of(parent, name)):
            if answer(parent, {name: value}) is not None:
                found[name, value] = derived(parent, **{name: value})
    return found


def unlike_at_once(parent: Recipe, share: int) -> list[str]:
    """The pairs of changes that are answered otherwise one after the other than at once."""
    drawn, found = random.Random(12), []
    every = [
        (name, value)
        for name, declared in settings_of(Recipe).items()
        for value in others(name, declared, value_of(parent, name))
    ]
    for (first, own), child in single_changes(parent).items():
        for second, value in every:
            if second == first or {first, second} & BASES or drawn.randrange(share):
                continue
            if answer(child, {second: value}) != answer(parent, {first: own, second: value}):
                found.append(f"{first}={own}, then {second}={value}")
    return found


@pytest.mark.slow
@first_is_quick("name", [name for name, recipe in RECIPES.items() if not recipe.needs])
def test_a_change_after_another_is_answered_as_both_at_once(name: str) -> None:
    assert unlike_at_once(RECIPES[name], SHARE) == []


def test_what_a_recipe_was_derived_by_is_refused_where_a_later_change_leaves_it_unread() -> None:
    seeing = derived(RECIPES["bare"], observe__observation="image")
    said = r"observe\.observation=image would change nothing in own: .*so set observe\.observation=text, too"
    with pytest.raises(ValueError, match=said):
        checking.vary(seeing, {"plan.kind": "first"})
    undone = checking.vary(seeing, {"plan.kind": "first", "observe.observation": "text"})
    assert undone.observe.observation == "text"
