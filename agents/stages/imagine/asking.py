"""What the stage `imagine` asks a language model about: the page, what was done, the action. Core."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from agents.llm.protocol import Message, Sampling
from agents.stages.kind import CannotRun, Parts
from agents.stages.plan.generator import ChatGenerator, ChatPrompt, Generated, Generator
from agents.stages.plan.kinds import generator_of
from agents.stages.state import StepState
from agents.types import Action, DecisionUsage
from annotations.dom.accessibility import accessibility_tree

NOTHING_DONE = "None"


class Asking:
    """Fills the texts of a pack and has them answered; what it took is noted at the states that asked."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.settings = parts, parts.recipe.imagine
        self.generator = self._generator()

    def _generator(self) -> Generator:
        """Longer answers than a planner gives, of a model of its own where one is named."""
        if self.parts.recipe.plan.kind == "grounded":
            return self._endpoint()
        planner = generator_of(self.parts)
        if not isinstance(planner, ChatGenerator):
            return planner
        return ChatGenerator(planner.llm, self.settings.model or planner.model, self.settings.max_new_tokens)

    def _endpoint(self) -> Generator:
        """Of a planner that asks nothing there is no model to take."""
        if self.parts.llm is None:
            raise CannotRun(f"{self.parts.recipe.name} asks an LLM endpoint what actions lead to, and none was given")
        return ChatGenerator(self.parts.llm, self.settings.model, self.settings.max_new_tokens)

    def answers(
        self, text: str, asked: Sequence[tuple[StepState, Mapping[str, str]]], samples: int = 1
    ) -> list[Generated]:
        """The answers to one text, filled in for each; of several samples, all are in `texts`."""
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

    def page(self, state: StepState) -> str:
        """The page as an accessibility tree, cut behind the last line that fits."""
        lines = accessibility_tree(state.observation.root).split("\n")
        fits, beyond = 0, len(lines) + 1
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            if self.generator.count_tokens("\n".join(lines[:middle])) <= self.settings.page_tokens:
                fits = middle
            else:
                beyond = middle
        return "\n".join(lines[:fits])


def described(action: Action, page: str) -> str:
    """The action with the line of its element, in one form wherever it is asked about (the published code writes it
    differently for training and for use, quirk Q20)."""
    done = " ".join(part for part in (action.operation, action.value and f"[{action.value}]") if part)
    if action.node_id is None:
        return done
    start = f"[{action.node_id}] "
    line = next((line.strip() for line in page.split("\n") if line.strip().startswith(start)), "")
    return f"{done} on [{action.node_id}]" + (f" where [{action.node_id}] is {line[len(start) :]}" if line else "")


def previous(state: StepState) -> str:
    """What was done in the turn, a line each."""
    return "\n".join(past.representation for past in state.observation.turn_actions) or NOTHING_DONE
