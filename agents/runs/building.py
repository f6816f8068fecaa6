"""Recipes into policies: weights, endpoint, memory and planner put together. Loaded weights stay in the process."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from agents.encoders import weights
from agents.encoders.embedding import CachedEncoder, load_encoder
from agents.grounded import GroundedPolicy
from agents.llm.protocol import Llm
from agents.memory.build import SnippetForm
from agents.memory.retrieve import ConversationMemory, DatasetMemory
from agents.models import Run
from agents.policy import FirstPlanner, StagedPolicy
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.plan.generator import ChatGenerator, Generator
from agents.stages.rank.dmr import DmrRanker, dmr_encoder, weblinx_text
from agents.stages.rank.inputs import WeblinxText
from agents.stages.rank.score_file import ScoreFileRanker
from agents.types import Policy, Ranker

KEPT_MODELS = 3  # sets of weights in memory at once


class CannotRun(ValueError):
    """The recipe lacks something; the message says what and how to get it."""


@lru_cache(maxsize=KEPT_MODELS)
def encoder_named(name: str) -> CachedEncoder:
    """The encoder of that name, loaded once per process."""
    return load_encoder(name)


def build_policy(run: Run, llm: Llm | None = None) -> Policy:
    """The policy of a run. `llm`: what answers prompts to endpoints. CannotRun says what is missing."""
    recipe = literature.from_dict(run.recipe)
    if lacking := literature.missing(recipe):
        raise CannotRun(f"{recipe.name} cannot run: it needs {'; '.join(lacking)}")
    if recipe.plan.kind == "grounded":
        return _grounded(recipe)
    encoder = memory_encoder(recipe)
    memory = DatasetMemory(
        snippet_form(recipe).key(encoder.name),
        run.dataset,
        encoder.name,
        run.seed,
        run if recipe.recall.induction == "online" else None,
    )
    planner = PLANNERS[recipe.plan.kind](recipe, lambda: _generator(recipe, llm, run.seed), llm)
    return StagedPolicy(recipe, build_ranker(recipe), memory, encoder, planner, llm, run.seed)


def snippet_form(recipe: Recipe) -> SnippetForm:
    """The form of memory that a recipe compares with. `grounded` keeps the published one."""
    if recipe.plan.kind == "grounded":
        return SnippetForm()
    return SnippetForm(recipe.quirks.q11_item_without_trajectory, recipe.recall.state_in_query)


def memory_encoder(recipe: Recipe) -> CachedEncoder:
    """What embeds memory, exemplars and workflows."""
    name = recipe.rank.model if recipe.plan.kind == "grounded" else recipe.recall.encoder or weights.MINILM
    return _loaded("recall.encoder", name, encoder_named)


def _loaded(setting: str, name: str, load: Callable[[str], Any]) -> Any:
    try:
        return load(name)
    except (OSError, ValueError) as error:  # no such folder or name, no network to fetch it, wrong kind of weights
        raise CannotRun(f"{setting}={name!r} could not be loaded: {error}") from error


def _grounded(recipe: Recipe) -> Policy:
    encoder = memory_encoder(recipe)
    memory = ConversationMemory(snippet_form(recipe).key(encoder.name))
    if not recipe.plan.model:
        return GroundedPolicy(recipe, encoder, memory)
    from agents.stages.plan.learned.policy import LearnedPolicy

    return LearnedPolicy(recipe, encoder, memory, _loaded("plan.model", recipe.plan.model, _learned))


@lru_cache(maxsize=KEPT_MODELS)
def _learned(name: str):
    from agents.stages.plan.learned.model import load

    return load(weights.source(name))


@lru_cache(maxsize=KEPT_MODELS)
def _cross_encoder(name: str, text: WeblinxText) -> Ranker:
    from agents.stages.rank.cross_encoder import CrossEncoderRanker

    return CrossEncoderRanker(name, weblinx=text)


def build_ranker(recipe: Recipe) -> Ranker:
    """Stage `rank` of a recipe."""
    settings = recipe.rank
    text = weblinx_text(settings, recipe.quirks)
    if settings.kind == "cross_encoder":
        return _loaded("rank.model", settings.model, lambda name: _cross_encoder(name, text))
    if settings.kind == "score_file":
        return _loaded("rank.model", settings.model, ScoreFileRanker)
    return DmrRanker(_loaded("rank.model", settings.model, dmr_encoder), settings, recipe.quirks)


def _generator(recipe: Recipe, llm: Llm | None, seed: int) -> Generator:
    plan = recipe.plan
    if plan.backend == "endpoint":
        if llm is None:
            raise CannotRun(f"{recipe.name} asks an LLM endpoint, and none was given")
        return ChatGenerator(llm, plan.model, plan.max_new_tokens, plan.temperature, seed if plan.temperature else None)
    generator = _loaded("plan.model", plan.model, _weights)
    generator.configure(
        max_new_tokens=plan.max_new_tokens,
        max_tokens=recipe.compose.max_tokens,
        max_piece=recipe.compose.piece_tokens,
        temperature=plan.temperature,
        constrained=plan.constrained,
        seed=seed,
    )
    return generator


@lru_cache(maxsize=KEPT_MODELS)
def _weights(name: str):
    from agents.stages.plan.local import LocalGenerator

    return LocalGenerator(weights.source(name))


def _pages(recipe: Recipe, generator: Callable[[], Generator], llm: Llm | None):
    from agents.memory.rationales import RationaleWriter
    from agents.stages.plan.pages import PagePlanner

    writer = RationaleWriter(llm if recipe.recall.rationales == "model" else None)
    return PagePlanner(recipe, generator(), writer)


def _trajectories(recipe: Recipe, generator: Callable[[], Generator], llm: Llm | None):
    from agents.stages.plan.trajectories import TrajectoryPlanner

    return TrajectoryPlanner(recipe, generator())


def _action_strings(recipe: Recipe, generator: Callable[[], Generator], llm: Llm | None):
    from agents.stages.plan.action_strings import ActionStringPlanner

    return ActionStringPlanner(recipe, generator())


PLANNERS = {
    "first": lambda recipe, generator, llm: FirstPlanner(),
    "multichoice": _pages,
    "generation": _pages,
    "trajectory": _trajectories,
    "action_string": _action_strings,
}
"""Planner kind -> what makes it of (recipe, generator on demand, LLM)."""
