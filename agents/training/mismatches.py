"""Which models a recipe asks with other inputs than they were trained on. Shell."""

from collections.abc import Collection
from typing import Any

from agents.cookbook.checking import read_by
from agents.cookbook.learnt_from import composes, embedding_memory, if_asked
from agents.encoders.weights import MINILM
from agents.models import TrainedModel
from agents.recipes import literature
from agents.recipes.declaring import value_of, values_of
from agents.recipes.literature import Recipe
from agents.stages.imagine.values import value_of_outcomes
from agents.stages.imagine.worlds import Imagining, world_text
from agents.stages.rank.kinds import WEBLINX_TEXT
from agents.stages.registry import installed, planner_of, stage_served, training_of
from agents.training.given_texts import other_texts, texts_asked

SET_BESIDE = ("history_turns", "element_limit")  # in a ranker's training, whatever its recipe says
NOT_READ = ("max_new_tokens", "ranker")  # of a training: no part of what a model reads


def unlike_training(stored: dict[str, Any], project: int) -> list[str]:
    """A sentence for each model of the project that this recipe gives other inputs than it was trained on."""
    recipe = literature.readable(stored)
    if recipe is None:
        return []
    asked = {"rank.model": "", "plan.model": "", **_imagining(recipe)}  # setting -> the text that asks, of imagine
    named = {setting: value_of(recipe, setting) for setting in asked}
    rows = TrainedModel.objects.filter(project=project, name__in=[n for n in named.values() if n])
    models = {model.name: model for model in rows.select_related("job", "dataset")}
    found = [(setting, models[name]) for setting, name in named.items() if name in models]
    every = [
        _said_imagining(setting, model, recipe, asked[setting]) if asked[setting] else _said(setting, model, recipe)
        for setting, model in found
    ]
    return [said for said in every if said]


def _imagining(recipe: Recipe) -> dict[str, str]:
    """Setting -> the text by which stage `imagine` asks the weights that it names."""
    kind = installed(recipe, "imagine.kind")
    if kind is None or not issubclass(kind, Imagining):
        return {}
    read = kind.names_weights and "imagine.model" in read_by(recipe)
    world = {"imagine.model": world_text(recipe)} if read else {}
    valuing = {"imagine.value_model": kind.value_text(recipe)} if value_of_outcomes(recipe).names_weights else {}
    return world | valuing


def _said_imagining(setting: str, model: TrainedModel, recipe: Recipe, text: str) -> str:
    if (wrote := model.config.get("paradigm", text)) != text:
        return f"{setting}={model.name} was trained to answer {wrote}; {recipe.name} asks it {text}."
    tokens, other = model.config.get("page_tokens"), {}
    if tokens not in (None, recipe.imagine.page_tokens):
        other["imagine.page_tokens"] = tokens, recipe.imagine.page_tokens
    return _sentence(setting, model, recipe, other | _packs(recipe, [text], model))


def _packs(recipe: Recipe, names: Collection[str], model: TrainedModel) -> dict[str, tuple[Any, Any]]:
    """prompts.pack -> (in training, now), where texts of these names differ."""
    params = model.job.params if model.job else {}
    before = literature.readable(params["recipe"]) if "recipe" in params else None
    prompts = before.prompts if before else None
    packs = other_texts(params.get("texts", {}), prompts, recipe, names, model.project_id)
    return {} if packs is None else {"prompts.pack": packs}


def _said(setting: str, model: TrainedModel, recipe: Recipe) -> str:
    try:
        _, wanted = training_of(recipe, model.kind)
    except ValueError:  # the recipe uses it for something else, which its own checks tell
        return ""
    stored = model.job.params.get("recipe") if model.job else None
    before = literature.readable(stored) if stored else None
    if stored and before is None:
        return f"{setting}={model.name} was trained by a recipe that cannot be read any more."
    if stage_served(model.kind) == "rank":
        if other_data := _other_data(before, model, recipe):
            return (
                f"{setting}={model.name} was trained on {other_data[0]}; {recipe.name} asks it about {other_data[1]}."
            )
        return _sentence(setting, model, recipe, _ranked_otherwise(before, model.config, recipe))
    other = {name: (model.config[name], value) for name, value in wanted.items() if _differs(model.config, name, value)}
    if before and "paradigm" in model.config:
        told = training_of(before, model.kind)[1]
        other = {name: pair for name, pair in other.items() if name == "paradigm" or told.get(name) != pair[0]}
        other |= _composed_otherwise(before, recipe, model.config) | _packs(recipe, texts_asked(recipe), model)
    return _sentence(setting, model, recipe, other)


def _sentence(setting: str, model: TrainedModel, recipe: Recipe, other: dict[str, tuple[Any, Any]]) -> str:
    """What is `other`, a setting with its value in training and in use, in words; "" where nothing is."""
    if not other:
        return ""
    trained = ", ".join(f"{name}={before}" for name, (before, _) in other.items())
    asked = ", ".join(f"{name}={now}" for name, (_, now) in other.items())
    return f"{setting}={model.name} was trained with {trained}; {recipe.name} asks it with {asked}."


def _other_data(before: Recipe | None, model: TrainedModel, recipe: Recipe) -> tuple[str, str] | None:
    """What a ranker learned from and what it is asked about, in words, where these are two kinds of data."""
    if model.dataset is not None:
        of_turns = model.dataset.source_format == "weblinx"
    elif before:
        of_turns = before.data == "weblinx"
    else:
        return None
    words = "recorded WebLINX turns", "recorded pages"
    if of_turns == (recipe.data == "weblinx"):
        return None
    return words if of_turns else words[::-1]


def _ranked_otherwise(before: Recipe | None, config: dict[str, Any], recipe: Recipe) -> dict[str, tuple[Any, Any]]:
    """Setting -> (its value in a ranker's training, its value now), of settings by which WebLINX turns are written and
    that differ. A training that named no recipe wrote them as published."""
    if recipe.data != "weblinx":
        return {}
    was = values_of(before or Recipe("as published", ""))
    was |= {f"rank.{name}": config[name] for name in SET_BESIDE if name in config}
    asks, read = values_of(recipe), read_by(recipe)
    return {name: (was[name], asks[name]) for name in WEBLINX_TEXT if name in read and was[name] != asks[name]}


def _composed_otherwise(before: Recipe, now: Recipe, config: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Setting -> (its value in the recipe that a model was trained by, its value now), of settings that change what the
    model reads and that differ. `config`: the settings of the training, which name the ranker of WebLINX turns."""
    was, asks, read = values_of(before), values_of(now), if_asked(before) | if_asked(now)
    if planner_of(before).of_turns and "ranker" in config:
        was["rank.model"] = config["ranker"]
    for values in (was, asks):
        values["recall.encoder"] = values["recall.encoder"] or MINILM
    of_memory = embedding_memory(before, now)
    found = {
        name: (was[name], asks[name]) for name in asks if name in of_memory or (name in read and composes(name, now))
    }
    found = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    return found | _fewer_in_group(before, now)


def _fewer_in_group(before: Recipe, now: Recipe) -> dict[str, tuple[Any, Any]]:
    """rank.top_k -> (the elements of a group in training, now), where a page has too few elements for a whole group.
    Samples of training show whole ones, whatever is ranked."""
    group, kept = before.simplify.group_size, now.rank.top_k
    in_groups = planner_of(now).form is not None
    fewer = in_groups and kept < min(group, now.simplify.group_size) and "rank.top_k" in read_by(now)
    return {"rank.top_k": (f"at least {group}", kept)} if fewer else {}


def _differs(config: dict[str, Any], name: str, value: Any) -> bool:
    return name not in NOT_READ and name in config and config[name] != value
