"""Small models that stand in for weights that nobody has trained here, so that every recipe can be tried. Core.

They are there to try the machinery with, and reproduce no paper: rankers are MiniLM trained for one epoch on the
dataset at hand, and the embedded language model, untrained, answers in the place of a planner. A run stores its recipe
with them filled in, so that pages and reports say what was used.
"""

import dataclasses
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from agents.cookbook import lacking
from agents.encoders import weights
from agents.encoders.cached_answers import once
from agents.encoders.weights import MINILM
from agents.llm import connection, embedded
from agents.recipes.declaring import replaced, replaced_by_stored, value_of, values_of, with_values
from agents.recipes.differences import based_on
from agents.recipes.literature import Recipe, asked_model
from agents.recipes.settings import ImagineSettings
from agents.stages.registry import asking_endpoint, chosen, planner_of

# What the embedded model is given of a step: it reads about 450 tokens a second on two cores, and a step should take
# some seconds, not a minute (MindAct asks 13 times of 50 elements, with 2,048 tokens each time).
PROMPT_TOKENS = 3_072  # of a trajectory prompt: with 1,536 every fifth page of the sample had no room with its history
PAGE_TOKENS, PIECE_TOKENS = 768, 320  # of a page prompt, and of its longest part
ELEMENTS = 10  # of a knock-out: three questions
SAMPLES = 4  # replies of each prompt
BATCH = 8  # steps between two looks at whether to go on


@dataclass(frozen=True)
class Starter:
    """A ranker trained from MiniLM, one for all recipes that read the same data."""

    kind: str  # of model
    data: str  # any | weblinx
    base: str = MINILM

    @property
    def name(self) -> str:
        return f"{weights.STARTER}{self.kind.replace('_', '-')}{'-weblinx' if self.data == 'weblinx' else ''}"


def is_starter(model: str) -> bool:
    return model.startswith(weights.STARTER)


def starter_of(recipe: Recipe) -> Starter | None:
    """What is trained for a recipe that names no ranker; None where it names one or what one is trained from, or needs
    none."""
    ranking = chosen(recipe, "rank.kind")
    kind = ranking.training(recipe)[0] if ranking else ""
    asked = recipe.rank.model or recipe.needs or has_own_base(recipe, "rank.base")
    return None if asked or not kind else Starter(kind, recipe.data)


def has_own_base(recipe: Recipe, setting: str) -> bool:
    """Whether somebody has set what weights are trained from: those are meant then, and nothing stands in for them."""
    return value_of(recipe, setting) != value_of(based_on(recipe), setting)


def with_starters(recipe: Recipe, named: Collection[str] = ()) -> Recipe:
    """The recipe with starters in the place of weights that it does not name, as far as they are here. Settings that
    somebody has `named` stay as they are."""
    starter = starter_of(recipe)
    if starter is not None and is_here(starter):
        recipe = dataclasses.replace(recipe, rank=with_values(recipe.rank, model=starter.name))
    if recipe.plan.backend == "local" and "plan.backend" in named:
        return recipe
    return _kept(_with_embedded(recipe), recipe, named)


def _kept(filled: Recipe, recipe: Recipe, named: Collection[str]) -> Recipe:
    """The filled recipe with the named settings as they were in `recipe`. If one of stage `imagine` is named, all of
    that stage are, as its settings count for one kind only."""
    values, now = values_of(recipe), values_of(filled)
    whole = any(name.startswith("imagine.") for name in named)
    for name in values:
        if values[name] != now[name] and (name in named or (whole and name.startswith("imagine."))):
            filled = replaced_by_stored(filled, name, str(values[name]))
    return filled


def _with_embedded(recipe: Recipe) -> Recipe:
    plan = recipe.plan
    if not planner_of(recipe).asks or plan.model or recipe.needs or has_own_base(recipe, "plan.base"):
        return recipe
    model = _stand_in() if plan.backend == "local" else connection.embedded_model()
    return _answered_by(recipe, model) if model else recipe


def _answered_by(recipe: Recipe, model: str) -> Recipe:
    """The recipe with an embedded model as planner, and less of everything, as that model is slow and knows little."""
    plan, compose, planner = recipe.plan, recipe.compose, planner_of(recipe)
    samples, guided = min(plan.samples, SAMPLES), "plan.constrained" in planner.reads
    plan = with_values(plan, backend="endpoint", model=model, constrained=guided, samples=samples)
    compose = with_values(
        compose,
        context_tokens=min(compose.context_tokens, PROMPT_TOKENS),
        max_tokens=min(compose.max_tokens, PAGE_TOKENS),
        piece_tokens=min(compose.piece_tokens, PIECE_TOKENS),
    )
    rank = with_values(recipe.rank, top_k=min(recipe.rank.top_k, ELEMENTS))
    batch = min(recipe.batch_size, BATCH)
    return dataclasses.replace(
        recipe, plan=plan, compose=compose, rank=rank, batch_size=batch, imagine=_embedded_world(recipe)
    )


def _embedded_world(recipe: Recipe) -> ImagineSettings:
    """The settings of `imagine` where the embedded model would imagine: it knows too little, so past transitions
    predict and value in its place."""
    imagining = chosen(recipe, "imagine.kind")
    for setting, value in imagining.instead.items() if imagining and not recipe.imagine.model else ():
        recipe = replaced(recipe, setting, value)
    return recipe.imagine


def _stand_in() -> str:
    """The embedded model's name, "" where it is not allowed or not installed."""
    return embedded.SMOLLM2 if connection.may_be_embedded() and not embedded.lacking() else ""


# settings that say which weights, or which model behind the same prompts, answer; and how many steps together
ANSWERED_BY = frozenset("batch_size imagine.model imagine.value_model plan.model preset rank.model".split())
WRITES = {
    "simplify": "writes rationales",
    "recall": "writes what recall has written (instructions that stand alone, objectives, workflows)",
    "imagine": "imagines or values outcomes",
}
ASKED, WRITES_BRIEF = "is asked", "the embedded model writes, untrained"
PAPERS_ENCODER = "text-embedding-ada-002"  # where nothing is named, MiniLM embeds, which `deviations` tells


def is_mixture(recipe: Recipe, meant: Recipe) -> bool:
    """Whether a recipe is another agent than the packaged one that is `meant`: not the same with other models behind
    it, other texts, more or fewer quirks, or with what stands in where nobody has its models."""
    own, packaged, filled = values_of(recipe), values_of(meant), values_of(meant)
    if embedded.is_embedded(recipe.plan.model) and planner_of(meant).asks:
        filled = values_of(_answered_by(meant, recipe.plan.model))
    differ = {name for name, value in own.items() if value not in (packaged[name], filled[name])} - ANSWERED_BY
    if own["plan.backend"] == "local":  # papers that ask endpoints ran weights of their own by the same prompts, too
        differ.discard("plan.backend")
    if recipe.recall.encoder.endswith(PAPERS_ENCODER):
        differ.discard("recall.encoder")
    return any(not name.startswith(("quirks.", "prompts.")) for name in differ)


def is_here(starter: Starter) -> bool:
    try:
        weights.check(starter.name)
    except ValueError:
        return False
    return True


def missing(recipe: Recipe) -> list[str]:
    """What the recipe lacks although starters stand in, with how to get it; empty when it can run now."""
    return lacking.missing(with_starters(recipe))


def missing_of(recipes: Iterable[Recipe]) -> list[list[str]]:
    """What each of these recipes lacks. Questions that several put to the database are put once."""
    with once():
        return [missing(recipe) for recipe in recipes]


@dataclass(frozen=True)
class StandIn:
    """At one stage, what is used here in the place of what a paper used: in a sentence (`words`) and in a few words
    (`brief`)."""

    stage: str
    words: str
    brief: str


def stands_in(recipe: Recipe) -> list[StandIn]:
    """Which small models are used in the place of what the paper used; empty where none is."""
    filled = with_starters(recipe)
    return _stands_in(recipe, filled) + _writers(filled, connection.embedded_model(asked_model(filled)))


def stood_in(recipe: Recipe, ran: Recipe) -> list[StandIn]:
    """`stands_in`, of a run whose stored recipe is `ran`, whatever would stand in here now."""
    named = asked_model(ran)
    return _stands_in(recipe, ran) + _writers(ran, named if embedded.is_embedded(named) else "")


def _stands_in(recipe: Recipe, filled: Recipe) -> list[StandIn]:
    said = []
    if is_starter(filled.rank.model) and filled.rank.model != recipe.rank.model:
        words = f"{filled.rank.model}, MiniLM trained here, ranks in the place of {recipe.rank.base}"
        said.append(StandIn("rank", words, "a small MiniLM, trained here"))
    if embedded.is_embedded(filled.plan.model) and not recipe.plan.model:
        place = recipe.plan.base or "the large models that papers ask (GPT-3.5, GPT-4)"
        words = f"{filled.plan.model}, untrained, answers in the place of {place}"
        said.append(StandIn("plan", words, "the embedded model, untrained"))
        said += _fewer(recipe, filled)
    return said


def _writers(recipe: Recipe, model: str) -> list[StandIn]:
    """The stages other than `plan` at which the embedded `model` writes what papers ask large models for; none where it
    is ""."""
    planner = planner_of(recipe)
    if not model:
        return []
    asking = [kind for kind in asking_endpoint(recipe) if kind is not planner]
    return [
        StandIn(
            stage,
            f"{model}, untrained, {WRITES.get(stage, ASKED)} in the place of large models (GPT-3.5, GPT-4)",
            WRITES_BRIEF,
        )
        for stage in dict.fromkeys(kind.stage for kind in asking)
    ]


def _fewer(recipe: Recipe, filled: Recipe) -> list[StandIn]:
    """What is done less than in the paper because the embedded model is slow and knows little."""
    said = []
    if (samples := filled.plan.samples) < recipe.plan.samples:
        words = f"it draws {samples} replies in the place of {recipe.plan.samples}"
        said.append(StandIn("plan", words, f"{samples} replies, not {recipe.plan.samples}"))
    if filled.imagine.kind != recipe.imagine.kind:
        words = "past transitions of the train split imagine and value in its place (imagine.kind=retrieval)"
        said.append(StandIn("imagine", words, "past transitions, no world model"))
    if (top_k := filled.rank.top_k) < recipe.rank.top_k:
        words = f"it is shown {top_k} elements of a page in the place of {recipe.rank.top_k}"
        said.append(StandIn("rank", words, f"{top_k} elements, not {recipe.rank.top_k}"))
    return said


def by_stage(stand_ins: Iterable[StandIn]) -> dict[str, list[str]]:
    """Stage -> what is used there in the place of what the paper used, in a few words."""
    found: dict[str, list[str]] = {}
    for one in stand_ins:
        found.setdefault(one.stage, []).append(one.brief)
    return found


def told_of(recipes: Iterable[Recipe]) -> list[tuple[list[str], list[StandIn]]]:
    """Of each recipe what it lacks and what stands in. Questions that several put to the database are put once."""
    with once():
        return [(missing(recipe), stands_in(recipe)) for recipe in recipes]
