"""The prompts that a recipe makes of a recorded step in the words of a pack, without any model.

Nothing is ranked or embedded: elements come in the order of the candidates, the nearest earlier steps are the last
ones, exemplars and workflows the first that there are, and clicks on the first two elements are imagined. Whoever looks
must be allowed to see the step's gold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.protocol import LlmInfo, Message, Reply, Request, Sampling
from agents.llm.usage import Usage
from agents.memory.build import SnippetForm
from agents.memory.exemplar_sets import ProjectExemplarSets
from agents.memory.rationales import question
from agents.memory.retrieve import DatasetMemory
from agents.observations import RecordedConversation
from agents.pipeline import BEFORE, ROUNDS, Pipeline
from agents.prompts.packs import Pack
from agents.recipes.literature import Recipe
from agents.runs.weblinx_demos import demo_of
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.registry import told
from agents.stages.state import StepState
from agents.types import (
    Action,
    DecisionUsage,
    Observation,
    PromptExemplar,
    PromptWorkflow,
    RankedCandidate,
    Snippet,
)
from agents.words.generator import Generated, PlannerPrompt
from agents.words.past_step import RationaleRequest
from annotations.dom.limits import PageError
from annotations.dom.tree import node_ids
from annotations.models import Dataset, Split, Step

SHOWN_CANDIDATES = 10
ANSWER = "…"  # stands for answers of models that would be asked before the planner


@dataclass(frozen=True)
class AskedPrompt:
    """One prompt: what a model is asked for, and the messages."""

    what: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class StepPreview:
    """All prompts of a step, in order; `error` says why the last one is missing."""

    asked: list[AskedPrompt]
    error: str = ""


def preview(recipe: Recipe, pack: Pack, step: Step) -> StepPreview:
    """The prompts of a recipe about a step. CannotRun says which text the pack lacks."""
    recorded = RecordedConversation(step.turn.conversation_id)
    dataset = recorded.conversation.dataset
    asked = _PromptCatcher(pack)
    memory = _FirstMemory(dataset)
    encoder = CachedEncoder(HashEncoder())
    parts = Parts(recipe, 0, asked, memory, encoder, asked, _InOrder(), asked, pack)
    parts.sets = ProjectExemplarSets(dataset.project, encoder)
    try:
        pipeline = Pipeline.of(parts)
    except CannotRun:  # what is imagined takes the past transitions of a dataset, which nobody has looked through
        pipeline = Pipeline.of(parts, (*BEFORE, *ROUNDS))
    if parts.planner_asks and "imagine" in pipeline.stages:
        pipeline.stages["imagine"].insert(0, _TwoClicks(parts))
    (decision,) = pipeline.decide([_observation(recipe, recorded, step)])
    return StepPreview(asked.found, "" if asked.planned else decision.error)


def _observation(recipe: Recipe, recorded: RecordedConversation, step: Step) -> Observation:
    row = next(one for one in recorded.steps if one.pk == step.pk)
    more: dict[str, Any] = {}
    if "history" in told(recipe):
        more["turn_steps"] = tuple(recorded.recorded(one) for one in recorded.turn_so_far(row))
    if recipe.data == "weblinx":
        more |= {"demo": demo_of(recorded), "demo_turn": row.source_index}
    return recorded.observation(row, **more)


class _InOrder:
    """Stands in for a ranker: ranks the recorded candidates, or the page's elements, in their order."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [
            tuple(RankedCandidate(node_id, 1.0, rank, "") for rank, node_id in enumerate(_candidates(seen)))
            for seen in observations
        ]


def _candidates(seen: Observation) -> Sequence[str]:
    try:
        present = node_ids(seen.root) if seen.html else []
    except PageError:  # the pipeline says so
        present = []
    wanted = set(present)
    return [key for key in seen.candidate_ids or present if not present or key in wanted][:SHOWN_CANDIDATES]


class _FirstMemory(DatasetMemory):
    """Stands in for memory: recalls the latest steps and the first exemplars and workflows instead of the nearest."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, HashEncoder(), SnippetForm())

    def prepare_exemplars(self) -> None: ...

    def prepare_workflows(self, embedded: bool) -> None: ...

    def snippets(self, observations: list[Observation], queries: Sequence[np.ndarray], k: int) -> list[list[Snippet]]:
        return [[_snippet(step) for step in reversed(self.earlier_steps(seen))][:k] for seen in observations]

    def exemplars(
        self, observation: Observation, query: np.ndarray | None, k: int, fixed: bool = False
    ) -> list[PromptExemplar]:
        others = self.dataset.conversations.filter(split=Split.TRAIN).exclude(pk=observation.conversation)
        found = []
        for key in others.filter(turns__steps__isnull=False).order_by("pk").distinct().values_list("pk", flat=True)[:k]:
            recorded = self._recorded(key)
            first = recorded.steps[0].turn
            shown = tuple(recorded.recorded(one) for one in recorded.steps if one.turn_id == first.pk)
            found.append(PromptExemplar(key, recorded.conversation.source_id, first.instruction, shown))
        return found

    def workflows(self, observation: Observation, query: np.ndarray | None, k: int) -> list[PromptWorkflow]:
        rows = self.dataset.workflows.standing().order_by("position", "pk")
        own = rows.filter(website__name=observation.website)
        chosen = (own if own.exists() else rows)[:k]
        return [PromptWorkflow(row.pk, row.name, row.description, row.body, observation.website) for row in chosen]


def _snippet(step: Any) -> Snippet:
    seen = step.observation
    return Snippet(seen.key, seen.turn_index, seen.step_index, seen.instruction, step.action.representation, None)


class _TwoClicks(StageKind):
    """Stands in for the planner's answers, so that there are actions to imagine: clicks on the first two elements."""

    stage = "imagine"

    def run(self, states: Sequence[StepState]) -> None:
        for state in states:
            state.error, state.drawn = "", tuple(Action("CLICK", node_id) for node_id in state.best_ids(2))


class _PromptCatcher:
    """Stands in for every model: keeps the prompts that it is given."""

    info = LlmInfo("nowhere", "no model", None)

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.found: list[AskedPrompt] = []
        self.planned = False

    def generate(self, prompts: Sequence[PlannerPrompt], sampling: object = None) -> list[Generated]:
        if not self.planned:
            self.found += [AskedPrompt("to act", prompt.chat()) for prompt in prompts]
        elif isinstance(sampling, Sampling):  # else a knock-out asks the same way again, about other elements
            self.found += [AskedPrompt("to imagine", prompt.chat()) for prompt in prompts[:1]]
        self.planned = True
        return [Generated("None", "", DecisionUsage()) for _ in prompts]

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    def complete(self, requests: list[Request]) -> list[Any]:
        self.found += [AskedPrompt("to recall", request.messages) for request in requests]
        return [Reply((ANSWER,), Usage(0, 0, 0.0), "no model", ("stop",), 0.0) for _ in requests]

    def write(self, requests: Sequence[RationaleRequest]) -> dict[int, tuple[str, DecisionUsage]]:
        self.found += [AskedPrompt("for a rationale", question(request, self.pack)) for request in requests[:1]]
        return {request.step.key: (ANSWER, DecisionUsage()) for request in requests}
