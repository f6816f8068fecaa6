"""Models asked otherwise than they were trained: what a recipe composes that its models never read. Shell."""

from typing import Any

from agents.encoders.weights import MODEL_SETTINGS
from agents.models import TrainedModel
from agents.recipes import literature
from agents.recipes.checking import read_by
from agents.recipes.declaring import values_of
from agents.recipes.literature import Recipe
from agents.stages.registry import training_of

STAGES_BEFORE = ("rank.", "recall.", "simplify.", "compose.", "quirks.q18")
NOT_READ = ("max_new_tokens", "ranker")  # of a training: no part of what a model reads


def unlike_training(stored: dict[str, Any], project: int) -> list[str]:
    """A sentence for each model of the project that this recipe gives other inputs than it was trained on."""
    try:
        recipe = literature.from_dict(stored)
    except (KeyError, TypeError, ValueError):  # an older version stored it so that it cannot be read
        return []
    named = {"rank.model": recipe.rank.model, "plan.model": recipe.plan.model}
    rows = TrainedModel.objects.filter(project=project, name__in=[n for n in named.values() if n])
    models = {model.name: model for model in rows.select_related("job")}
    return [
        said for setting, name in named.items() if name in models and (said := _said(setting, models[name], recipe))
    ]


def _said(setting: str, model: TrainedModel, recipe: Recipe) -> str:
    try:
        _, wanted = training_of(recipe, model.kind)
    except ValueError:  # the recipe uses it for something else, which its own checks tell
        return ""
    other = {name: (model.config[name], value) for name, value in wanted.items() if _differs(model.config, name, value)}
    stored = model.job.params.get("recipe") if model.job else None
    other |= _composed_otherwise(stored, recipe) if model.config.get("paradigm") == "trajectory" and stored else {}
    if not other:
        return ""
    trained = ", ".join(f"{name}={before}" for name, (before, _) in other.items())
    asked = ", ".join(f"{name}={now}" for name, (_, now) in other.items())
    return f"{setting}={model.name} was trained with {trained}; {recipe.name} asks it with {asked}."


def _composed_otherwise(stored: dict[str, Any], recipe: Recipe) -> dict[str, tuple[Any, Any]]:
    """What the stages before a model do otherwise than those of the recipe it was trained by, which alone have made
    its samples."""
    before, now, read = values_of(literature.from_dict(stored)), values_of(recipe), read_by(recipe)
    names = [name for name in now if name in read and name.startswith(STAGES_BEFORE) and name not in MODEL_SETTINGS]
    return {name: (before[name], now[name]) for name in names if before[name] != now[name]}


def _differs(config: dict[str, Any], name: str, value: Any) -> bool:
    return name not in NOT_READ and name in config and config[name] != value
