"""Whether the model that a setting names is here, and loading it. Core."""

from collections.abc import Callable
from typing import Any

from agents.encoders import weights
from agents.llm.embedded import SMOLLM2, is_embedded
from agents.recipes.declaring import value_of
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.kind import CannotRun, unless

KEPT_MODELS = 3  # sets of weights in memory at once


def lacking_model(setting: str, name: str, base: str, trainer: str) -> list[str]:
    """What is missing of the model that a setting names, with how to get it; empty where nothing is."""
    if not name:
        published = f" from {base}" if base else ""
        return [f"{setting}: train one{published} ({trainer} --name NAME) or name a folder"]
    try:
        weights.check(name)
    except ValueError as error:
        return [f"{setting}: {error}"]
    return []


def trainer_of(command: str, setting: str, recipe: Recipe) -> str:
    """How weights for a recipe are trained, as a command: from the base that `setting` names, where this is not the
    packaged recipe's own."""
    base, packaged = str(value_of(recipe, setting)), RECIPES.get(recipe.name)
    own = packaged is not None and value_of(packaged, setting) == base
    given = "" if own or not base else f" --set {setting}={base}"
    return f"manage.py {command} DATASET --recipe {recipe.name}{given}"


def base_counts(recipe: Recipe, stage: str, command: str) -> dict[str, str]:
    """The base of a stage, where its model is named, with what it needs in words: weights that are named run as they
    are, and a base counts only for those that are trained from it."""
    wants = f"an empty {stage}.model, or a model trained from it: "
    return unless(
        not value_of(recipe, f"{stage}.model"),
        f"{wants}{trainer_of(command, f'{stage}.base', recipe)} --name NAME, then {stage}.model=NAME alone",
        f"{stage}.base",
    )


def idle_elsewhere(recipe: Recipe, *settings: str) -> dict[str, str]:
    """These settings where the model that plans is not in this process: prompts are cut here alone, and answers held
    to a form."""
    here = recipe.plan.backend == "local" or is_embedded(recipe.plan.model)
    return unless(here, f"plan.backend=local or plan.model={SMOLLM2}", *settings)


def loaded(setting: str, name: str, load: Callable[[str], Any]) -> Any:
    """The model that `load` makes of a name; CannotRun names the setting where it cannot."""
    try:
        return load(name)
    except (OSError, ValueError) as error:  # no such folder or name, no network to fetch it, wrong kind of weights
        raise CannotRun(f"{setting}={name!r} could not be loaded: {error}") from error
