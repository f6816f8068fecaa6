"""The texts that the stage `recall` has a language model write: instructions that stand alone, and objectives. Core."""

from collections.abc import Mapping, Sequence

from agents.llm.errors import LlmError
from agents.llm.protocol import Message, Request
from agents.prompts.render import Prompt
from agents.recipes.literature import Recipe, asked_model
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.state import StepState
from agents.types import DecisionUsage, RecordedStep
from agents.words.generator import complete
from agents.words.trajectory import ShownStep
from agents.words.trajectory_page import page_or_nothing

OBJECTIVE_TOKENS = 100
REWRITE_TOKENS = 200
BASELINES = {
    "baselines": "The baselines of MT-Mind2Web are not in the published code: they follow the paper's description."
}
"""A deviation of their kinds."""


Filled = Mapping[str, str]
"""What a prompt is filled with for one state."""


def ask(
    parts: Parts, prompt: Prompt, filled: Sequence[Filled], max_tokens: int, states: Sequence[StepState]
) -> list[str]:
    """The answers to a prompt, "" where one cannot be read; usage and prompt are noted at the states."""
    if parts.llm is None:
        raise CannotRun(f"{parts.recipe.name} needs an LLM endpoint for its prompt {prompt.name!r}")
    model = asked_model(parts.recipe) or parts.llm.info.model
    asked = [tuple(Message(*said) for said in prompt.messages(**values)) for values in filled]
    requests = [Request(messages, model, max_tokens=max_tokens) for messages in asked]
    answers = []
    for state, reply in zip(states, complete(parts.llm, requests), strict=True):
        used, noted = reply.usage, state.trace.setdefault("recall", {})
        state.usage += DecisionUsage(1, used.prompt_tokens, used.completion_tokens, used.cost)
        noted.setdefault("prompts", {})[prompt.name] = prompt.sha256
        if isinstance(reply, LlmError):
            noted.setdefault("errors", []).append(str(reply))
        else:
            noted.setdefault("written_by", {})[prompt.name] = model
        answers.append("" if isinstance(reply, LlmError) else reply.text)
    return answers


class RewrittenInstruction(StageKind):
    """A model rewrites the instruction so that it is understood without the earlier turns (MindAct + CAR). The first of
    a conversation stays as it is."""

    stage = "recall"
    reads = frozenset({"prompts.pack"})
    gives = frozenset({"instruction"})

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return BASELINES

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return "A model rewrites the instruction so that it stands alone."

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "instruction that stands alone"

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"rewrite"})

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return True

    def run(self, states: Sequence[StepState]) -> None:
        asking = [state for state in states if state.observation.earlier_instructions]
        prompt = self.parts.words.prompt("rewrite")
        filled = [
            {
                "website": state.observation.website,
                "earlier": "\n".join(state.observation.earlier_instructions),
                "instruction": state.observation.instruction,
            }
            for state in asking
        ]
        for state, answer in zip(asking, ask(self.parts, prompt, filled, REWRITE_TOKENS, asking), strict=True):
            state.instruction = answer.strip() or state.instruction
            state.note("recall", rewritten=answer.strip())


def _trajectory(steps: Sequence[RecordedStep], past: Mapping[int, ShownStep | Exception]) -> str:
    """The observation and the action of each step, a line each; of a page that cannot be shown the action alone."""
    lines = []
    for step in steps:
        found = past[step.observation.key]
        if isinstance(found, ShownStep):
            lines += [f"Observation: `{found.observation}`", f"Action: `{found.act}` ({found.action_repr})"]
        else:
            lines.append(f"Action: {step.action.representation}")
    return "\n".join(lines) or "None"


def objectives(parts: Parts, states: Sequence[StepState]) -> list[str]:
    """The objective of the next action of each state, which the model predicts from the pages and actions of the turn
    so far, and the page as the prompt of the action shows it (MIMS, equation 3.5); the instruction where that fails."""
    past = parts.past_pages().show(step for state in states for step in state.observation.turn_steps)
    prompt, shown = parts.words.prompt("objective"), parts.recipe.simplify.page_elements
    leaks = parts.recipe.quirks.q18_gold_in_top_k
    filled = [
        {
            "task": state.observation.instruction,
            "trajectory": _trajectory(state.observation.turn_steps, past),
            "page": page_or_nothing(state.observation, state.page_ids(shown, with_gold=leaks)),
        }
        for state in states
    ]
    answers = ask(parts, prompt, filled, OBJECTIVE_TOKENS, states)
    found = [
        answer.strip().removeprefix("Objective:").strip() or state.observation.instruction
        for answer, state in zip(answers, states, strict=True)
    ]
    for state, objective in zip(states, found, strict=True):
        state.note("recall", objective=objective)
    return found
