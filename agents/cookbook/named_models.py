"""Whether the models that a recipe names are those of which a paper printed numbers."""

import re
from collections.abc import Collection

from agents.cookbook.checking import read_by
from agents.cookbook.starters import has_own_base, is_starter
from agents.encoders.cached_answers import asked_once
from agents.llm.embedded import is_embedded
from agents.models import Connection, TrainedModel
from agents.recipes.declaring import value_of
from agents.recipes.literature import Recipe
from agents.stages.imagine.values import value_of_outcomes
from agents.stages.imagine.worlds import Imagining
from agents.stages.registry import installed, planner_of

LEARNED_WORLD = "Llama-3.1-8B"  # what WMA's world model and value function were trained from
RELEASES = {"turbo", "k", "instruct", "hf", "it", "chat", "preview", "latest"}  # of a model, as dates and lengths are
NAMING = ("rank.model", "plan.model", "imagine.model", "imagine.value_model")
MOST_TRAININGS = 8  # one upon the other


def is_as_named(own: Recipe, meant: Recipe, printed: str, answered: Collection[str] = ()) -> bool:
    """Whether the ranker, the planner and the world model of a recipe are those of the row of a table, or what stands
    in for them. `meant`: the row's recipe; `printed`: the planner's model as the row names it, "" where it names
    none. `answered`: the models that answered a run whose recipe names none; any may have where none is told."""
    read = read_by(own)
    found = {name: str(value_of(own, name)) for name in NAMING if name in read}
    asked = {name: {model} for name, model in found.items()}
    if names_nobody(own):
        asked["plan.model"] = {*answered}
    wanted = {"rank.model": meant.rank.base, "plan.model": printed or meant.plan.base} | _of_worlds(own, printed)
    if "plan.model" in read and _stands_for_base(own, meant) and printed and not is_of(meant.plan.base, printed):
        return False
    return all(
        _stands_in(model) or is_of(started_from(model), wanted[name]) or (not wanted[name] and _is_asked(own, meant))
        for name, models in asked.items()
        for model in models
    )


def names_nobody(recipe: Recipe) -> bool:
    """Whether its planner is asked of an endpoint and it does not say which model is: any may answer."""
    return planner_of(recipe).asks and recipe.plan.backend == "endpoint" and not recipe.plan.model


def check_base(recipe: Recipe, names: Collection[str]) -> None:
    """ValueError where one of these settings names a model although the recipe was derived by what its weights are to
    be trained from, and the model was not: the recipe would be told by that and run with other weights."""
    for stage in ("rank", "plan"):
        base, model = str(value_of(recipe, f"{stage}.base")), str(value_of(recipe, f"{stage}.model"))
        if (
            f"{stage}.model" not in names
            or not (model and base)
            or (stage, recipe.plan.backend) == ("plan", "endpoint")
        ):
            continue
        if has_own_base(recipe, f"{stage}.base") and not is_of(started_from(model), base):
            raise ValueError(
                f"{stage}.model={model} was not trained from {base}, which {recipe.name} has as {stage}.base: "
                f"name a model that was, or set {stage}.base to nothing, too"
            )


def is_of(name: str, printed: str) -> bool:
    """Whether a model's name is that of a printed one, whoever hosts it and whichever release of it, or ends with it,
    as those of published weights do: "google/flan-t5-base" of "Flan-T5base", "gpt-4o-2024-08-06" of "GPT-4o"."""
    parts, wanted = _parts(name), [part for part in _parts(printed) if part not in RELEASES]
    while parts and wanted and len(parts) > len(wanted) and (parts[-1] in RELEASES or parts[-1].isdigit()):
        parts.pop()
    return bool(wanted) and parts[-len(wanted) :] == wanted


@asked_once
def started_from(name: str) -> str:
    """The model behind a name: of one trained here what it was first trained from, of a connection the model that it
    asks, else the name."""
    for _ in range(MOST_TRAININGS):
        base = TrainedModel.objects.filter(name=name).values_list("base", flat=True).first()
        if not base:
            break
        name = base
    asked = Connection.objects.filter(kind=Connection.Kind.LLM, name=name).values_list("model", flat=True).first()
    return asked or name


def _parts(name: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+(?:\.\d+)?", name.rstrip("/").rpartition("/")[2].lower())


def _stands_in(model: str) -> bool:
    return not model or is_starter(model) or is_embedded(model)


def _stands_for_base(own: Recipe, meant: Recipe) -> bool:
    """Whether the planner is what the recipe's weights are trained from, or stands in for that."""
    return bool(meant.plan.base) and _stands_in(own.plan.model)


def _is_asked(own: Recipe, meant: Recipe) -> bool:
    """Whether models are asked as the paper asked them, which does not name them: over an endpoint."""
    return own.plan.backend == meant.plan.backend == "endpoint"


def _of_worlds(recipe: Recipe, printed: str) -> dict[str, str]:
    """Setting -> what the paper's imagining and valuing models are: weights that were trained, or the planner's."""
    kind = installed(recipe, "imagine.kind")
    learned = kind is not None and issubclass(kind, Imagining) and kind.names_weights
    valued = value_of_outcomes(recipe).names_weights
    return {
        "imagine.model": LEARNED_WORLD if learned else printed,
        "imagine.value_model": LEARNED_WORLD if valued else printed,
    }
