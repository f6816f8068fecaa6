"""The prompt of Synapse, AWM and MIMS: exemplars, workflows, memory and the trajectory so far. Core."""

from collections.abc import Sequence
from itertools import groupby

from agents.llm.protocol import Message
from agents.recipes.literature import Recipe
from agents.stages.answering import generator_of
from agents.stages.compose.shots import examples
from agents.stages.kind import Beside, Parts, StageKind, prompt_of, unless
from agents.stages.simplify.around import ShownPages
from agents.stages.state import StepState
from agents.words.generator import ChatPrompt
from agents.words.trajectory import (
    STOP,
    SYSTEM_TEXTS,
    abstraction_query,
    act_query,
    chat_tokens,
    exemplar_messages,
    fit,
    naive_demos,
    system_message,
)
from agents.words.trajectory_parse import act_pattern, shown_ids

TRACED_PROMPT = 40_000  # characters of the prompt that a trace keeps, from its end
LONGEST_SETTINGS = frozenset({"compose.context_tokens", "compose.max_tokens"})


class Trajectories(StageKind):
    """System, workflows, exemplars and memory as far as they fit, then the turn so far and the page."""

    stage = "compose"
    reads = frozenset({"compose.shots", "compose.trajectory", "observe.observation", "prompts.pack", *LONGEST_SETTINGS})
    takes = frozenset({"instruction", "memory", "exemplars", "workflows"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return idle_by_backend(beside.recipe)

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        compose = recipe.compose
        history = "earlier pages and actions of the turn" if compose.trajectory else "the last actions as text"
        said = f"Instruction, {history} and the current page, in {longest(recipe):,} tokens."
        return said + examples(compose.shots)

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return prompt_of(longest(recipe))

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.generator = generator_of(parts)
        self.system = system_message(parts.words, self.recipe.compose.trajectory)
        self.demos = naive_demos(parts.words, self.recipe.compose.shots)
        self.limit = longest(self.recipe)

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        demos = {"abstraction_demos"} if recipe.compose.shots else set()
        return frozenset({SYSTEM_TEXTS[recipe.compose.trajectory]} | demos)

    @classmethod
    def shown_examples(cls, recipe: Recipe) -> dict[str, int]:
        return {"abstraction_demos": recipe.compose.shots}

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        told = {"history"} if recipe.compose.trajectory else set()
        return frozenset(told | ({"leaked_gold"} if recipe.quirks.q18_gold_in_top_k else set()))

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            self._compose(state, state.shown)

    def _compose(self, state: StepState, pages: ShownPages) -> None:
        query = self._query(state, pages)
        given = self.demos + self._exemplars(state, pages) + self._memory(state, pages)
        if state.workflows:
            given.insert(0, [Message("user", "\n\n".join(workflow.text() for workflow in state.workflows))])
        messages = fit(self.system, given, query, self._count, self.limit)
        if messages is None:
            state.fail(f"the page and its history exceed {self.limit} tokens")
            return
        state.prompt = ChatPrompt(tuple(messages), STOP, form=act_pattern(shown_ids(pages.page)))
        state.note(
            "compose",
            given=len(given),
            shown=_shown_count(messages, given, query),
            tokens=self._count(messages),
            prompt="\n\n".join(f"{m.role}: {m.content}" for m in messages)[-TRACED_PROMPT:],
        )

    def _query(self, state: StepState, pages: ShownPages) -> list[Message]:
        if self.recipe.compose.trajectory:
            asked = act_query(state.instruction, pages.history, pages.page)
        else:
            actions = [past.representation for past in state.observation.turn_actions]
            asked = abstraction_query(state.instruction, actions, pages.page)
        return with_image(asked, state)

    def _exemplars(self, state: StepState, pages: ShownPages) -> list[list[Message]]:
        pairs = zip(state.exemplars, pages.exemplars, strict=True)
        return [exemplar_messages(exemplar.instruction, steps) for exemplar, steps in pairs]

    def _memory(self, state: StepState, pages: ShownPages) -> list[list[Message]]:
        """Recalled steps in prompt order, those of one turn that stand together as one trajectory."""
        steps = zip(state.memory, pages.memory, pages.rationales, strict=True)
        found = []
        for _, turn in groupby(steps, key=lambda recalled: recalled[0].observation.turn_index):
            recalled = list(turn)
            messages = exemplar_messages(recalled[0][0].observation.instruction, [shown for _, shown, _ in recalled])
            found.append(_with_rationales(messages, [rationale for _, _, rationale in recalled]))
        return found

    def _count(self, messages: Sequence[Message]) -> int:
        return chat_tokens(messages, self.generator.count_tokens)


def idle_by_backend(recipe: Recipe) -> dict[str, str]:
    """What a prompt of messages does not read: images of local models, a second limit of endpoints."""
    local = recipe.plan.backend == "local"
    return unless(not local, "plan.backend=endpoint", "observe.observation", "compose.context_tokens") | unless(
        local, "plan.backend=local", "compose.max_tokens"
    )


def longest(recipe: Recipe) -> int:
    """The most tokens that a prompt may have. A local model would cut a longer one, its page first."""
    compose = recipe.compose
    return compose.max_tokens if recipe.plan.backend == "local" else compose.context_tokens


def _with_rationales(messages: list[Message], rationales: Sequence[str | None]) -> list[Message]:
    """Append to each answer its rationale, where there is one. In `messages` question and answer alternate."""
    for place, rationale in enumerate(rationales):
        if rationale:
            answer = messages[2 * place + 1]
            messages[2 * place + 1] = Message(answer.role, f"{answer.content}\nRationale: {rationale}")
    return messages


def with_image(messages: list[Message], state: StepState) -> list[Message]:
    if state.image is None:
        return messages
    last = messages[-1]
    text = last.content if state.sees_text else f"Task: {state.instruction}"
    return [*messages[:-1], Message(last.role, text, (state.image,))]


def _shown_count(messages: list[Message], given: list[list[Message]], query: list[Message]) -> int:
    """How many of the exemplars (workflows count as one) are whole in the prompt."""
    left = len(messages) - 1 - len(query)
    count = 0
    for exemplar in given:
        left -= len(exemplar)
        count += left >= 0
    return count
