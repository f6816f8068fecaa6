"""The prompt of Synapse on MiniWoB++: what an agent can do, an exemplar set, and the page. Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.answering import generator_of
from agents.stages.compose.trajectories import LONGEST_SETTINGS, TRACED_PROMPT, idle_by_backend, longest, with_image
from agents.stages.kind import Beside, Parts, StageKind, prompt_of
from agents.stages.simplify.abstracted import AbstractedPage
from agents.stages.state import StepState
from agents.words.exemplar_sets import ACT_STOP, act_messages, programs_before, system_message, unaided_messages
from agents.words.generator import ChatPrompt
from agents.words.trajectory import chat_tokens


class ProgramPrompt(StageKind):
    """The methods that a program may call, the demonstrations of the exemplar set, the earlier programs where a task
    takes several, and the page."""

    stage = "compose"
    reads = LONGEST_SETTINGS | {"observe.observation", "prompts.pack"}
    takes = frozenset({"instruction", "exemplar_set"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return idle_by_backend(beside.recipe)

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return prompt_of(longest(recipe))

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"miniwob_system"})

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"history"})

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.generator = generator_of(parts)
        self.system = system_message(parts.words)
        self.limit = longest(self.recipe)

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            self._compose(state, state.shown)

    def _compose(self, state: StepState, page: AbstractedPage) -> None:
        before = programs_before(state.observation)
        if state.exemplar_set is None or page.form is None:
            asked = unaided_messages(state.instruction, before, page.text)
        else:
            asked = act_messages(state.exemplar_set, page.form, state.instruction, before, page.text)
        messages = with_image([self.system, *asked], state)
        tokens = chat_tokens(messages, self.generator.count_tokens)
        if tokens > self.limit:
            state.fail(f"the prompt has {tokens:,} tokens, and the model reads {self.limit:,}")
            return
        state.prompt = ChatPrompt(tuple(messages), ACT_STOP)
        told = "\n\n".join(f"{message.role}: {message.content}" for message in messages)
        state.note("compose", tokens=tokens, shown=len(messages), prompt=told[-TRACED_PROMPT:])
