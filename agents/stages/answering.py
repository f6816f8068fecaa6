"""What answers the prompts of a recipe, by its settings. Core."""

from collections.abc import Callable
from functools import lru_cache

from agents.encoders import weights
from agents.generators.embedded import EmbeddedGenerator, Room
from agents.generators.local import LocalGenerator
from agents.llm.embedded import is_embedded
from agents.llm.protocol import Sampling
from agents.stages.kind import CannotRun, Parts
from agents.stages.models import KEPT_MODELS, loaded
from agents.words.generator import ChatGenerator, Generator


def sampling_of(parts: Parts) -> Sampling:
    """How replies are drawn: by the recipe's samples, temperature and top_p, and the run's seed."""
    plan = parts.recipe.plan
    return Sampling(plan.samples, plan.temperature, plan.top_p, parts.seed if plan.temperature else None)


def generator_of(parts: Parts) -> Generator:
    """The model that answers the recipe's prompts; made once, for all stages of the recipe that ask the planner's."""
    if parts.generator is not None:
        return parts.generator
    if parts.planner is None:
        parts.planner = GENERATORS[parts.recipe.plan.backend](parts)
    return parts.planner


def _endpoint(parts: Parts) -> Generator:
    plan = parts.recipe.plan
    if parts.llm is None:
        raise CannotRun(f"{parts.recipe.name} asks an LLM endpoint, and none was given")
    if is_embedded(model := plan.model or parts.llm.info.model):
        room = Room(parts.recipe.compose.max_tokens, parts.recipe.compose.piece_tokens)
        return EmbeddedGenerator(parts.llm, model, plan.max_new_tokens, sampling_of(parts), room)
    return ChatGenerator(parts.llm, plan.model, plan.max_new_tokens, sampling_of(parts))


def _local(parts: Parts) -> Generator:
    plan, compose = parts.recipe.plan, parts.recipe.compose
    generator: LocalGenerator = loaded("plan.model", plan.model, _weights)
    generator.configure(
        max_new_tokens=plan.max_new_tokens,
        max_tokens=compose.max_tokens,
        max_piece=compose.piece_tokens,
        constrained=plan.constrained,
        sampling=sampling_of(parts),
    )
    return generator


@lru_cache(maxsize=KEPT_MODELS)
def _weights(name: str) -> LocalGenerator:
    return LocalGenerator(weights.source(name))


GENERATORS: dict[str, Callable[[Parts], Generator]] = {"endpoint": _endpoint, "local": _local}
"""`plan.backend` -> what answers."""
