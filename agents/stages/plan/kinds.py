"""What the kinds of `plan` have in common: the stages that go with them, and asking a model. Core."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import ClassVar

from agents.encoders import weights
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.plan.generator import ChatGenerator, Generated, Generator, Prompt
from agents.stages.plan.local import LocalGenerator
from agents.stages.rank.kinds import KEPT_MODELS, loaded
from agents.stages.state import StepState

MODEL_SETTINGS = frozenset({"plan.backend", "plan.model", "plan.base", "plan.max_new_tokens", "plan.temperature"})


class Planning(StageKind):
    """A kind of `plan`. It closes every state, with an action or without, when no further round is needed.

    `before` are the kinds of `simplify` and `compose` that make what it reads; with a generator they get its tokens.
    """

    stage = "plan"
    asks: ClassVar[bool] = False  # a model, with the prompt that `compose` left
    fails_unasked: ClassVar[bool] = False  # published code asks only where the gold element is in reach (Q27)

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        """The kinds of simplify and compose that go with it."""
        return ()

    @classmethod
    def ranking(cls, recipe: Recipe) -> type[StageKind] | None:
        """The kind of `rank` that comes with the planner, where its network scores the elements too."""
        return None


class AskingPlanner(Planning):
    """Asks a model with every prompt of a batch at once."""

    asks = True
    reads = MODEL_SETTINGS

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.generator = generator_of(parts)

    def generate(self, states: Sequence[StepState]) -> list[tuple[StepState, Generated]]:
        """The states with a prompt, and what the model answered each."""
        asked = [(state, state.prompt) for state in states if state.prompt is not None]
        prompts: list[Prompt] = [prompt for _, prompt in asked]
        answers = self.generator.generate(prompts) if prompts else []
        found = [(state, generated) for (state, _), generated in zip(asked, answers, strict=True)]
        for state, generated in found:
            state.usage += generated.usage
        return found


def generator_of(parts: Parts) -> Generator:
    """What answers the recipe's prompts; made once for all kinds of a recipe."""
    if parts.generator is None:
        parts.generator = GENERATORS[parts.recipe.plan.backend](parts)
    return parts.generator


def _endpoint(parts: Parts) -> Generator:
    plan = parts.recipe.plan
    if parts.llm is None:
        raise CannotRun(f"{parts.recipe.name} asks an LLM endpoint, and none was given")
    seed = parts.seed if plan.temperature else None
    return ChatGenerator(parts.llm, plan.model, plan.max_new_tokens, plan.temperature, seed)


def _local(parts: Parts) -> Generator:
    plan, compose = parts.recipe.plan, parts.recipe.compose
    generator: LocalGenerator = loaded("plan.model", plan.model, _weights)
    generator.configure(
        max_new_tokens=plan.max_new_tokens,
        max_tokens=compose.max_tokens,
        max_piece=compose.piece_tokens,
        temperature=plan.temperature,
        constrained=plan.constrained,
        seed=parts.seed,
    )
    return generator


@lru_cache(maxsize=KEPT_MODELS)
def _weights(name: str) -> LocalGenerator:
    return LocalGenerator(weights.source(name))


GENERATORS: dict[str, Callable[[Parts], Generator]] = {"endpoint": _endpoint, "local": _local}
"""`plan.backend` -> what answers."""
