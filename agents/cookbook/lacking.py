"""What a recipe needs and this installation does not have: each of its kinds says so. Core."""

from agents.encoders import weights
from agents.llm import connection
from agents.recipes.literature import Recipe, asked_model
from agents.stages.models import lacking_model
from agents.stages.registry import (
    asking_endpoint,
    embeds_apart,
    needs_ranking,
    overlooked,
    planner_of,
    rankings_wanted,
    recipe_kinds,
    searched,
)


def asks_endpoint(recipe: Recipe) -> bool:
    """Whether it calls an LLM endpoint."""
    return bool(asking_endpoint(recipe))


def missing(recipe: Recipe) -> list[str]:
    """What the recipe lacks here, with how to get it; empty when it can run now."""
    lacking = [*recipe.needs, *(what for kind in recipe_kinds(recipe) for what in kind.lacking(recipe))]
    encoder = recipe.recall.encoder
    if encoder and not weights.is_remote(encoder) and embeds_apart(recipe):
        lacking += lacking_model("recall.encoder", encoder, "", "")
    lacking += overlooked(recipe)
    if wanted := rankings_wanted(recipe):
        lacking.append(f"rank.kind={' or '.join(wanted)}")
    if asks_endpoint(recipe) and (reason := connection.lacking(asked_model(recipe))):
        lacking.append(reason)
    lacking += _lacking_eyes(recipe)
    if not recipe.needs and needs_ranking(recipe):
        lacking.append("a ranker: rank.kind is none")
    return list(dict.fromkeys(lacking))


def _lacking_eyes(recipe: Recipe) -> list[str]:
    """What is lacking where the recipe shows screenshots to the embedded model: it refuses them, so every step would
    fail."""
    if recipe.plan.backend != "endpoint" or not planner_of(recipe).asks or "screenshots" not in searched(recipe):
        return []
    if not (model := connection.embedded_model(asked_model(recipe))):
        return []
    shows = f"a model that reads images, for observe.observation={recipe.observe.observation}"
    return [f"{shows}: {model} reads none; set plan.model to one of an endpoint, or observe.observation=text"]
