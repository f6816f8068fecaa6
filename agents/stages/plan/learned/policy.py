"""The recipe `grounded` with a trained planner: observe, recall, rank, plan and act, as one batch. Core."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.encoders.embedding import Encoder
from agents.recipes.literature import Recipe
from agents.stages.plan.learned.model import LearnedModel, LearnedPrediction
from agents.stages.plan.learned.prepare import PreparedStep, prepare
from agents.stages.recall.memory_text import memory_text
from agents.trace import traced_choice
from agents.types import Action, Decision, NoCandidates, Observation, RankedCandidate, Snippet, SnippetMemory
from annotations.dom.elements import Element
from annotations.dom.limits import PageError
from annotations.observe.spans import span


@dataclass
class _LearnedWork:
    """One observation on its way through the stages."""

    observation: Observation
    step: PreparedStep | None = None  # None for a page that cannot be used
    snippets: list[Snippet] = field(default_factory=list)
    error: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


class LearnedPolicy:
    """Element, operation and value come from one network; memory is recalled for the values of earlier turns."""

    def __init__(self, recipe: Recipe, encoder: Encoder, memory: SnippetMemory, model: LearnedModel) -> None:
        if encoder.name != model.encoder_name:
            raise ValueError(f"the planner was trained with {model.encoder_name}, the recipe ranks with {encoder.name}")
        self.recipe = recipe
        self.encoder = encoder
        self.memory = memory
        self.model = model

    def decide(self, observations: list[Observation]) -> list[Decision]:
        """One decision per observation. A page that cannot be read gives a decision without actions and an
        `error` in its trace; the others are not affected."""
        with span("stage", stage="observe", steps=len(observations)):
            work = [self._observe(observation) for observation in observations]
        ready = [item for item in work if item.step is not None]
        with span("stage", stage="recall", steps=len(ready)):
            self._recall(ready)
        begun = time.perf_counter()
        steps = [item.step for item in ready if item.step is not None]
        with span("stage", stage="rank", steps=len(ready)):
            found = self.model.predict(steps, [item.observation for item in ready], self.encoder)
        share = (time.perf_counter() - begun) / max(1, len(ready))
        decisions = {}
        for item, step, prediction in zip(ready, steps, found, strict=True):
            item.seconds["rank"] = share
            decisions[id(item)] = self._act(item, step, prediction)
        return [decisions.get(id(item)) or _unreadable(item) for item in work]

    def _observe(self, observation: Observation) -> _LearnedWork:
        begun = time.perf_counter()
        item = _LearnedWork(observation)
        try:
            item.step = prepare(observation, self.model.common)
        except (PageError, NoCandidates) as error:
            item.error = str(error)
        item.seconds["observe"] = time.perf_counter() - begun
        return item

    def _recall(self, work: Sequence[_LearnedWork]) -> None:
        settings = self.recipe.recall
        if settings.memory != "multifaceted" or not work:
            return
        begun = time.perf_counter()
        queries = list(self.encoder.encode([_query(item.observation) for item in work]))
        found = self.memory.snippets([item.observation for item in work], queries, settings.k)
        share = (time.perf_counter() - begun) / len(work)
        for item, snippets in zip(work, found, strict=True):
            item.snippets, item.seconds["recall"] = snippets, share

    def _act(self, item: _LearnedWork, step: PreparedStep, prediction: LearnedPrediction) -> Decision:
        begun = time.perf_counter()
        texts = [_described(element) for element in step.page.candidates]
        order = np.argsort(-prediction.scores, kind="stable")
        ranking = tuple(
            RankedCandidate(step.page.candidates[i].node_id, float(prediction.scores[i]), place, texts[i])
            for place, i in enumerate(order)
        )
        action = Action(prediction.operation, ranking[0].node_id, prediction.value)
        item.seconds["plan"] = time.perf_counter() - begun
        asked, elements = (_query(item.observation), item.snippets), len(step.page.everything)
        trace = traced_choice(self.recipe, item.observation, elements, ranking, asked, action, _why(prediction))
        return Decision((action,), ranking, tuple(item.snippets), trace=trace, seconds=item.seconds)


def _query(observation: Observation) -> str:
    return memory_text(observation.instruction, [past.representation for past in observation.turn_actions])


def _described(element: Element) -> str:
    return f"{element.role or element.tag} {' '.join((element.name or element.text).split()[:12])}".strip()


def _why(prediction: LearnedPrediction) -> dict[str, str]:
    """The reasons in words, with what the networks made of the alternatives."""
    share = float(np.exp(prediction.scores.max()))
    why = {
        "element": f"{share:.0%} of the trust of {len(prediction.scores)} candidates",
        "operation": f"{prediction.operation} with {prediction.operation_share:.0%}",
    }
    if prediction.value_source:
        why["value"] = f"{_SOURCES[prediction.value_source]} with {prediction.value_share:.0%}"
    return why


_SOURCES = {
    "quote": "a quoted part of the instruction",
    "words": "words of the instruction",
    "date": "a date in the instruction",
    "time": "a time in the instruction",
    "range": "a number of the range in the instruction",
    "earlier": "a value of an earlier instruction",
    "page": "a text of the page",
    "option": "an option of the list",
    "key": "a key",
}


def _unreadable(item: _LearnedWork) -> Decision:
    return Decision((), trace={"observe": {"error": item.error}}, seconds=item.seconds)
