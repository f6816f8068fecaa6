"""The planner of Synapse, AWM and MIMS: one prompt with exemplars, workflows and the trajectory so far. Core."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm.protocol import Message
from agents.recipes.literature import Recipe
from agents.stages.compose.trajectory import (
    STOP,
    ShownStep,
    abstraction_query,
    act_query,
    chat_tokens,
    exemplar_messages,
    fit,
    naive_demos,
    shown,
    system_message,
)
from agents.stages.plan.generator import ChatPrompt, Generated, Generator
from agents.stages.plan.prepared import Planned, Prepared
from agents.stages.plan.trajectory_parse import bare_act, in_backticks, parse_act
from agents.stages.simplify.trajectory_page import GoldStep, page_text
from agents.types import Action, PromptExemplar, RecordedStep
from annotations.dom.limits import PageError

TRACED_PROMPT = 40_000  # characters of the prompt that a trace keeps, from its end
KEPT_STEPS = 5_000  # rendered past steps, a few KB each


class TrajectoryPlanner:
    """Stages simplify, compose and plan of the recipes with `plan.kind` trajectory. Messages may hold a screenshot."""

    def __init__(self, recipe: Recipe, generator: Generator) -> None:
        self.recipe = recipe
        self.generator = generator
        self._shown: dict[int, ShownStep] = {}  # by step

    def plan(self, steps: Sequence[Prepared]) -> list[Planned]:
        """One decision per step; all prompts of the batch are asked at once."""
        composed = [self._compose(step) for step in steps]
        prompts = [prompt for prompt, _ in composed if prompt is not None]
        replies = iter(self.generator.generate(prompts) if prompts else [])
        return [
            self._planned(step, next(replies), trace) if prompt is not None else Planned(error=trace["error"])
            for step, (prompt, trace) in zip(steps, composed, strict=True)
        ]

    def _compose(self, step: Prepared) -> tuple[ChatPrompt | None, dict[str, Any]]:
        """The prompt and what its trace tells; no prompt where the page cannot be shown or nothing fits."""
        compose = self.recipe.compose
        try:
            node_ids = self._elements(step)
            page = page_text(step.observation.html, node_ids)
            history = [self._show(past, step) for past in step.history]
            given = naive_demos()[: compose.shots] + [self._exemplar(exemplar, step) for exemplar in step.exemplars]
        except (PageError, IndexError, ValueError) as error:
            return None, {"error": f"a page of the prompt cannot be shown: {error}"}
        if compose.trajectory:
            query = act_query(step.instruction, history, page)
        else:
            actions = [past.representation for past in step.observation.turn_actions]
            query = abstraction_query(step.instruction, actions, page)
        system = system_message(compose.trajectory)
        if step.workflows:
            text = "\n\n".join(workflow.text() for workflow in step.workflows)
            given.insert(0, [Message("user", text)])
        messages = fit(system, given, query, self._count, compose.context_tokens)
        if messages is None:
            return None, {"error": f"the page and its history exceed {compose.context_tokens} tokens"}
        messages = self._with_image(messages, step)
        trace = {
            "simplify": {"elements": node_ids},
            "compose": {
                "given": len(given),
                "shown": _shown_count(messages, given, query),
                "tokens": self._count(messages),
                "prompt": "\n\n".join(f"{m.role}: {m.content}" for m in messages)[-TRACED_PROMPT:],
            },
        }
        return ChatPrompt(tuple(messages), STOP), trace

    def _elements(self, step: Prepared) -> list[str]:
        """The elements that the page is shown around. Under quirk Q18 the gold one is always among them: a leak."""
        count = self.recipe.simplify.page_elements
        leaked = step.observation.leaked_gold
        if self.recipe.quirks.q18_gold_in_top_k and leaked:
            others = [c.node_id for c in step.ranking if c.node_id not in leaked]
            return [leaked[0], *others[: count - 1]]
        return step.best(count)

    def _exemplar(self, exemplar: PromptExemplar, step: Prepared) -> list[Message]:
        return exemplar_messages(exemplar.instruction, [self._show(past, step) for past in exemplar.steps])

    def _show(self, past: RecordedStep, step: Prepared) -> ShownStep:
        """A past step as text; rendered once however often it is shown."""
        key = past.observation.key
        if key not in self._shown:
            if len(self._shown) >= KEPT_STEPS:
                self._shown.clear()
            gold = gold_step(past, step.ranks[key])
            self._shown[key] = shown(gold, self.recipe.simplify.history_elements)
        return self._shown[key]

    def _with_image(self, messages: list[Message], step: Prepared) -> list[Message]:
        seen, image = self.recipe.observe.observation, step.observation.screenshot
        if seen == "text" or image is None:
            return messages
        last = messages[-1]
        text = f"Task: {step.instruction}" if seen == "image" else last.content
        return [*messages[:-1], Message(last.role, text, (image,))]

    def _count(self, messages: Sequence[Message]) -> int:
        return chat_tokens(messages, self.generator.count_tokens)

    def _planned(self, step: Prepared, generated: Generated, trace: dict[str, Any]) -> Planned:
        text = in_backticks(generated.text)
        if not text and not self.recipe.compose.trajectory:
            text = bare_act(generated.text)
        act = parse_act(text)
        action = Action(act.operation or "", act.node_id, act.value or "") if act.node_id is not None else None
        trace |= {"plan": {"kind": "trajectory", "reply": generated.text, "text": text}}
        error = generated.error
        return Planned(None if error else action, generated.usage, error, trace)


def gold_step(step: RecordedStep, ranks: Mapping[str, int]) -> GoldStep:
    """A recorded step with the ranks of its candidates; what was not ranked comes last."""
    observation = step.observation
    last = len(ranks)
    gold = set(step.positive_ids)
    return GoldStep(
        step.action.representation,
        step.action.operation,
        step.action.value,
        observation.html,
        tuple((node_id, ranks.get(node_id, last)) for node_id in step.positive_ids),
        tuple((node_id, ranks[node_id]) for node_id in ranks if node_id not in gold),
    )


def _shown_count(messages: list[Message], given: list[list[Message]], query: list[Message]) -> int:
    """How many of the exemplars (and the workflows) fit."""
    left = len(messages) - 1 - len(query)
    count = 0
    for exemplar in given:
        left -= len(exemplar)
        count += left >= 0
    return count
