"""How the stage `imagine` asks a language model about a page and an action. Core."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache

from agents.encoders import weights
from agents.generators.local import LocalGenerator
from agents.llm.protocol import Message, Sampling
from agents.stages.answering import generator_of
from agents.stages.kind import CannotRun, Parts
from agents.stages.models import KEPT_MODELS, loaded
from agents.stages.state import StepState
from agents.types import DecisionUsage
from agents.words.generator import ChatGenerator, ChatPrompt, Generated, Generator

NOTHING_DONE = "None"
AROUND_PAGE = 1_024  # tokens of a prompt beside the page


class Asking:
    """Fills in texts of the prompt pack and asks a model; its usage is added to the states that it was asked for."""

    def __init__(self, parts: Parts, generator: Generator) -> None:
        self.parts, self.settings, self.generator = parts, parts.recipe.imagine, generator

    @classmethod
    def of_endpoint(cls, parts: Parts, answer_tokens: int, model: str) -> "Asking":
        """Asks the planner's own model or, at its endpoint, `model`, with room for longer answers. Where the planner
        asks no model, it is the endpoint's."""
        if parts.planner_asks:
            planner = generator_of(parts)
            if not isinstance(planner, ChatGenerator):
                return cls(parts, planner)
            return cls(parts, ChatGenerator(planner.llm, model or planner.model, answer_tokens))
        if parts.llm is None:
            raise CannotRun(f"{parts.recipe.name} asks an LLM endpoint what actions lead to, and none was given")
        return cls(parts, ChatGenerator(parts.llm, model, answer_tokens))

    @classmethod
    def of_weights(cls, parts: Parts, setting: str, name: str, answer_tokens: int) -> "Asking":
        """Asks a model that was trained here, or what is given in the place of all weights; `setting` names it in
        errors."""
        if parts.generator is not None:
            return cls(parts, parts.generator)
        generator: LocalGenerator = loaded(setting, name, imagining_weights)
        page_tokens = parts.recipe.imagine.page_tokens
        generator.configure(max_new_tokens=answer_tokens, max_tokens=page_tokens + AROUND_PAGE)
        return cls(parts, generator)

    def answers(
        self, text: str, asked: Sequence[tuple[StepState, Mapping[str, str]]], samples: int = 1
    ) -> list[Generated]:
        """The model's answer to the text for each of `asked`, (its state, the values to fill in). With several samples,
        `texts` of an answer has them all."""
        if not asked:
            return []
        prompt = self.parts.words.prompt(text)
        prompts = [ChatPrompt(tuple(Message(*said) for said in prompt.messages(**values))) for _, values in asked]
        drawn = Sampling(samples, self.settings.temperature, self.settings.top_p, self.parts.seed)
        given = self.generator.generate(prompts, drawn)
        for (state, _), answer in zip(asked, given, strict=True):
            self._note(state, text, prompt.sha256, answer)
        return given

    def _note(self, state: StepState, text: str, sha256: str, answer: Generated) -> None:
        state.usage += answer.usage
        noted = state.trace.setdefault("imagine", {})
        used = DecisionUsage(**noted.get("usage", {})) + answer.usage
        state.note("imagine", usage=asdict(used), prompts=noted.get("prompts", {}) | {text: sha256})
        if answer.error:
            state.note("imagine", errors=[*noted.get("errors", []), answer.error])

    def cut(self, tree: str) -> str:
        """A page as an accessibility tree, cut behind the last line that fits."""
        return cut_tree(tree, self.settings.page_tokens, self.generator.count_tokens)


def cut_tree(tree: str, tokens: int, count: Callable[[str], int]) -> str:
    """The first lines that have at most so many tokens. Training and use cut pages by this same function."""
    lines = tree.split("\n")
    fits, beyond = 0, len(lines) + 1
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if count("\n".join(lines[:middle])) <= tokens:
            fits = middle
        else:
            beyond = middle
    return "\n".join(lines[:fits])


@lru_cache(maxsize=KEPT_MODELS)
def imagining_weights(name: str) -> LocalGenerator:
    """The model of a folder or name, loaded once. It is another object than a planner of that name, which is set up for
    other prompts."""
    return LocalGenerator(weights.source(name))


def previous(state: StepState) -> str:
    """The earlier actions of the turn, a line each."""
    return "\n".join(past.representation for past in state.observation.turn_actions) or NOTHING_DONE
