"""Stage `recall` of prompted agents: memory, exemplars and workflows for every step of a batch. Core."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.encoders.embedding import Encoder
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.prompts.render import Prompt, load
from agents.recipes.literature import Recipe
from agents.stages.compose.trajectory import memory_key
from agents.stages.plan.generator import complete
from agents.stages.recall.select import MatchingQuirks, clustered, item_text, query_text, select_fixed, select_task_knn
from agents.stages.simplify.trajectory_page import page_text
from agents.trace import traced_snippets
from agents.types import (
    DecisionUsage,
    Memory,
    Observation,
    PromptExemplar,
    PromptWorkflow,
    RankedCandidate,
    RecordedStep,
    Snippet,
)
from annotations.dom.limits import PageError

ALL = 1_000_000  # snippets of a conversation
OBJECTIVE_TOKENS = 100
REWRITE_TOKENS = 200


@dataclass
class Recalled:
    """What is recalled for one step, in prompt order, and what it took."""

    instruction: str = ""  # rewritten to stand alone; "" as it is
    memory: tuple[RecordedStep, ...] = ()
    snippets: tuple[Snippet, ...] = ()  # the same for the replay
    exemplars: tuple[PromptExemplar, ...] = ()
    workflows: tuple[PromptWorkflow, ...] = ()
    usage: DecisionUsage = field(default_factory=DecisionUsage)
    trace: dict[str, Any] = field(default_factory=dict)


class Recaller:
    """Recalls as a recipe says. `llm` answers the rewriting of instructions and the prediction of objectives."""

    def __init__(self, recipe: Recipe, memory: Memory | None, encoder: Encoder | None, llm: Llm | None) -> None:
        self.recipe = recipe
        self.settings = recipe.recall
        self._memory = memory
        self._encoder = encoder
        self.llm = llm
        self._exemplars: dict[tuple[int, int], tuple[PromptExemplar, ...]] = {}  # (conversation, turn): once per task

    @property
    def memory(self) -> Memory:
        assert self._memory is not None, "a recipe that recalls needs a memory"
        return self._memory

    @property
    def encoder(self) -> Encoder:
        assert self._encoder is not None, "a recipe that compares texts needs an encoder"
        return self._encoder

    def recall(
        self, observations: Sequence[Observation], rankings: Sequence[tuple[RankedCandidate, ...]]
    ) -> list[Recalled]:
        """One result per observation; raises `LlmError` where the endpoint cannot answer at all."""
        found = [Recalled(trace={"kind": self.settings.memory}) for _ in observations]
        if self.settings.rewrite_instruction:
            self._rewrite(observations, found)
        self._remember(observations, rankings, found)
        if self.settings.exemplars != "none" and self.settings.exemplar_k:
            for observation, item in zip(observations, found, strict=True):
                item.exemplars = self._exemplars_of(observation)
                item.trace["exemplars"] = [
                    {"id": e.key, "source": e.source_id, "instruction": e.instruction, "distance": e.distance}
                    for e in item.exemplars
                ]
        if self.settings.workflows != "none":
            self._recall_workflows(observations, rankings, found)
        return found

    # Instructions -------------------------------------------------------------------------------------------------

    def _rewrite(self, observations: Sequence[Observation], found: list[Recalled]) -> None:
        """Instructions that stand alone (MindAct + CAR); a conversation's first needs no rewriting."""
        prompt = load("rewrite")
        asked = [i for i, observation in enumerate(observations) if observation.earlier_instructions]
        texts = [
            prompt.fill(
                website=observations[i].website,
                earlier="\n".join(observations[i].earlier_instructions),
                instruction=observations[i].instruction,
            )
            for i in asked
        ]
        for index, answer in zip(asked, self._ask(prompt, texts, REWRITE_TOKENS, asked, found), strict=True):
            found[index].instruction = answer.strip()
            found[index].trace["rewritten"] = found[index].instruction

    def _ask(
        self, prompt: Prompt, texts: list[str], max_tokens: int, places: list[int], found: list[Recalled]
    ) -> list[str]:
        """Answers, "" where one cannot be read; usage and prompt are noted at the steps of `places`."""
        if self.llm is None:
            raise ValueError(f"{self.recipe.name} needs an LLM endpoint for its prompt {prompt.name!r}")
        model = self.recipe.plan.model if self.recipe.plan.backend == "endpoint" else ""
        requests = [
            Request((Message("user", text),), model or self.llm.info.model, max_tokens=max_tokens) for text in texts
        ]
        answers = []
        for place, reply in zip(places, complete(self.llm, requests), strict=True):
            item = found[place]
            used = reply.usage
            item.usage += DecisionUsage(1, used.prompt_tokens, used.completion_tokens, used.cost)
            item.trace.setdefault("prompts", {})[prompt.name] = prompt.sha256
            if isinstance(reply, LlmError):
                item.trace.setdefault("errors", []).append(str(reply))
            answers.append("" if isinstance(reply, LlmError) else reply.text)
        return answers

    # Memory -------------------------------------------------------------------------------------------------------

    def _remember(
        self,
        observations: Sequence[Observation],
        rankings: Sequence[tuple[RankedCandidate, ...]],
        found: list[Recalled],
    ) -> None:
        kind = self.settings.memory
        if kind == "none":
            return
        ranked: list[list[Snippet]] = [[] for _ in observations]
        if kind == "multifaceted":
            texts = [self._query(o, ranking) for o, ranking in zip(observations, rankings, strict=True)]
            ranked = self.memory.snippets(list(observations), list(self.encoder.encode(texts)), ALL)
            for item, text in zip(found, texts, strict=True):
                item.trace["query"] = text
        for observation, item, nearest in zip(observations, found, ranked, strict=True):
            steps = self.memory.earlier_steps(observation)
            similarity = {snippet.step: snippet.similarity for snippet in nearest}
            chosen = [steps[i] for i in self._choose(observation, steps, nearest)]
            item.memory = tuple(self.memory.with_pages(chosen))
            item.snippets = tuple(_snippet(step, similarity.get(step.observation.key)) for step in chosen)
            item.trace["snippets"] = traced_snippets(item.snippets)

    def _query(self, observation: Observation, ranking: tuple[RankedCandidate, ...]) -> str:
        past = [action.representation for action in observation.turn_actions]
        state = ""
        if self.settings.state_in_query:
            state = _page(observation, [c.node_id for c in ranking[: self.recipe.simplify.page_elements]])
        return query_text(observation.instruction, past, state)

    def _choose(self, observation: Observation, steps: list[RecordedStep], nearest: list[Snippet]) -> list[int]:
        """Places of the chosen steps, in prompt order (planners.md 5.2, 5.6)."""
        kind, k, sort_by = self.settings.memory, self.settings.k, self.settings.sort_by
        turns = [step.observation.turn_index for step in steps]
        if kind == "chronological":
            return list(range(len(steps)))
        if kind == "fixed":
            return select_fixed(turns, k)
        if kind == "task_knn":
            instructions = [step.observation.instruction for step in steps]
            return select_task_knn(observation.instruction, turns, instructions, self.encoder.encode, k, sort_by)
        if len(steps) <= k:
            return list(range(len(steps)))
        place = {step.observation.key: index for index, step in enumerate(steps)}
        order = [place[snippet.step] for snippet in nearest if snippet.step in place]
        chosen = clustered(order, [self._item(step) for step in steps], k, sort_by)
        keeps_best = sort_by == "relevance" and not self.recipe.quirks.q12_relevant_first
        return chosen[::-1] if keeps_best else chosen  # a prompt that is too long loses its first snippets

    def _item(self, step: RecordedStep) -> str:
        past = [action.representation for action in step.observation.turn_actions]
        quirks = self.recipe.quirks.narrowed(MatchingQuirks)
        return item_text(step.observation.instruction, past, step.action.representation, quirks)

    # Exemplars and workflows --------------------------------------------------------------------------------------

    def _exemplars_of(self, observation: Observation) -> tuple[PromptExemplar, ...]:
        key = (observation.conversation, observation.turn_index)
        if key not in self._exemplars:
            query = None
            if self.settings.exemplars == "semantic":
                text = memory_key(
                    observation.website, observation.domain, observation.subdomain, observation.instruction
                )
                query = self.encoder.encode([text])[0]
            found = self.memory.exemplars(observation, query, self.settings.exemplar_k, self.settings.exemplars)
            self._exemplars[key] = tuple(found)
        return self._exemplars[key]

    def _recall_workflows(
        self,
        observations: Sequence[Observation],
        rankings: Sequence[tuple[RankedCandidate, ...]],
        found: list[Recalled],
    ) -> None:
        """Again at every step: what the next action is for changes as the page does."""
        queries: list[np.ndarray | None] = [None] * len(observations)
        if self.settings.workflows == "semantic":
            texts = [observation.instruction for observation in observations]
            if self.settings.workflow_query == "objective":
                texts = self._objectives(observations, rankings, found)
            queries = list(self.encoder.encode(texts))
        for observation, query, item in zip(observations, queries, found, strict=True):
            chosen = self.memory.workflows(observation, query, self.settings.workflow_k, self.settings.workflows)
            item.workflows = tuple(chosen)
            item.trace["workflows"] = [
                {"id": w.key, "name": w.name, "website": w.website, "distance": w.distance} for w in chosen
            ]

    def _objectives(
        self,
        observations: Sequence[Observation],
        rankings: Sequence[tuple[RankedCandidate, ...]],
        found: list[Recalled],
    ) -> list[str]:
        """What the next action is for, predicted by the model (MIMS 3.2); the instruction where that fails."""
        prompt = load("objective")
        texts = [
            prompt.fill(
                task=observation.instruction,
                trajectory="\n".join(past.representation for past in observation.turn_actions) or "None",
                page=_page(observation, [c.node_id for c in ranking[: self.recipe.simplify.page_elements]]),
            )
            for observation, ranking in zip(observations, rankings, strict=True)
        ]
        answers = self._ask(prompt, texts, OBJECTIVE_TOKENS, list(range(len(texts))), found)
        objectives = [
            answer.strip().removeprefix("Objective:").strip() or observation.instruction
            for answer, observation in zip(answers, observations, strict=True)
        ]
        for item, objective in zip(found, objectives, strict=True):
            item.trace["objective"] = objective
        return objectives


def _page(observation: Observation, node_ids: list[str]) -> str:
    """The page around some elements; "" where it cannot be read: then the texts go without it."""
    try:
        return page_text(observation.html, node_ids)
    except (PageError, IndexError):
        return ""


def _snippet(step: RecordedStep, similarity: float | None) -> Snippet:
    seen = step.observation
    return Snippet(seen.key, seen.turn_index, seen.step_index, seen.instruction, step.action.representation, similarity)
