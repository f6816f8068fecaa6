"""The default agent as one batch: observe, recall, rank, plan, act. Core: memory and encoder are passed in."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.encoders.embedding import Encoder
from agents.recipes.literature import Recipe
from agents.stages.plan.grounded import plan
from agents.stages.rank.dual_encoder import score_elements
from agents.stages.rank.element_text import element_texts
from agents.stages.recall.memory_text import memory_text
from agents.trace import traced_choice
from agents.types import Decision, NoCandidates, Observation, RankedCandidate, Snippet, SnippetMemory
from annotations.dom.elements import Element, elements
from annotations.dom.limits import PageError
from annotations.dom.tree import parse
from annotations.observe.spans import span
from annotations.sandbox.deadline import page_deadline


@dataclass
class _GroundedWork:
    """One observation on its way through the stages."""

    observation: Observation
    elements: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    total: int = 0
    snippets: list[Snippet] = field(default_factory=list)
    error: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


class GroundedPolicy:
    """The recipe `grounded`: no LLM, nothing trained."""

    def __init__(self, recipe: Recipe, encoder: Encoder, memory: SnippetMemory) -> None:
        self.recipe = recipe
        self.encoder = encoder
        self.memory = memory

    def decide(self, observations: list[Observation]) -> list[Decision]:
        """One decision per observation. A page that cannot be read gives a decision without actions and an
        `error` in its trace; the others are not affected."""
        with span("stage", stage="observe", steps=len(observations)):
            work = [self._observe(observation) for observation in observations]
        ready = [item for item in work if not item.error]
        with span("stage", stage="recall", steps=len(ready)):
            queries = self._recall(ready)
        with span("stage", stage="rank", steps=len(ready)):
            self._encode(ready)
        with span("stage", stage="plan", steps=len(ready)):  # and the scores: each step at once
            decisions = {id(item): self._act(item, query) for item, query in zip(ready, queries, strict=True)}
        return [decisions.get(id(item)) or _unreadable(item) for item in work]

    def _observe(self, observation: Observation) -> _GroundedWork:
        begun = time.perf_counter()
        item = _GroundedWork(observation)
        try:
            with page_deadline():
                everything = elements(parse(observation.html))
                texts = element_texts(everything)
            wanted = set(observation.candidate_ids)
            offered = [e for e in everything if (e.node_id in wanted if wanted else e.interactive or e.name)]
            if not offered:
                raise NoCandidates("the page has no element to choose from")
            item.total, item.elements = len(everything), offered
            item.texts = [texts[element.node_id] for element in offered]
        except (PageError, NoCandidates) as error:
            item.error = str(error)
        item.seconds["observe"] = time.perf_counter() - begun
        return item

    def _recall(self, work: Sequence[_GroundedWork]) -> list[np.ndarray]:
        """Unit query vectors: the turn so far, moved towards the recalled snippets by their similarity."""
        begun = time.perf_counter()
        settings = self.recipe.recall
        texts = [
            memory_text(w.observation.instruction, [past.representation for past in w.observation.turn_actions])
            for w in work
        ]
        vectors = self.encoder.encode([*texts, *(w.observation.instruction for w in work)])
        matching, own = vectors[: len(work)], vectors[len(work) :]
        if settings.memory == "multifaceted":
            found = self.memory.snippets([w.observation for w in work], list(matching), settings.k)
            for item, snippets in zip(work, found, strict=True):
                item.snippets = snippets
        queries = [self._query(item, vector, settings.weight) for item, vector in zip(work, own, strict=True)]
        share = (time.perf_counter() - begun) / max(1, len(work))
        for item in work:
            item.seconds["recall"] = share
        return queries

    def _query(self, item: _GroundedWork, own: np.ndarray, weight: float) -> np.ndarray:
        if not item.snippets or not weight:
            return own
        recalled = self.encoder.encode([snippet.instruction for snippet in item.snippets])
        similarity = np.array([max(0.0, snippet.similarity or 0.0) for snippet in item.snippets], dtype=np.float32)
        if not similarity.sum():
            return own
        mixed = (1 - weight) * own + weight * (similarity @ recalled) / similarity.sum()
        unit: np.ndarray = mixed / np.linalg.norm(mixed)
        return unit

    def _encode(self, work: Sequence[_GroundedWork]) -> None:
        """Encode the texts of all pages of the batch at once, so that shared texts are encoded once."""
        begun = time.perf_counter()
        self.encoder.encode(list(dict.fromkeys(text for item in work for text in item.texts)))
        share = (time.perf_counter() - begun) / max(1, len(work))
        for item in work:
            item.seconds["rank"] = share

    def _act(self, item: _GroundedWork, query: np.ndarray) -> Decision:
        begun = time.perf_counter()
        observation, rank = item.observation, self.recipe.rank
        names = [
            f"{element.name} {element.text}" if element.name != element.text else element.name
            for element in item.elements
        ]
        vectors = self.encoder.encode(item.texts)
        scores = score_elements(item.elements, names, vectors, query, observation, rank)
        order = np.argsort(-scores, kind="stable")
        ranking = tuple(
            RankedCandidate(item.elements[i].node_id, float(scores[i]), place, item.texts[i])
            for place, i in enumerate(order)
        )
        item.seconds["rank"] += time.perf_counter() - begun
        begun = time.perf_counter()
        best = item.elements[order[0]]
        recalled = [snippet.instruction for snippet in item.snippets] + list(reversed(observation.earlier_instructions))
        chosen = plan(best, observation, self.encoder, list(dict.fromkeys(recalled)))
        item.seconds["plan"] = time.perf_counter() - begun
        past = [action.representation for action in observation.turn_actions]
        asked = memory_text(observation.instruction, past), item.snippets
        trace = traced_choice(self.recipe, observation, item.total, ranking, asked, chosen.action, chosen.why)
        return Decision((chosen.action,), ranking, tuple(item.snippets), trace=trace, seconds=item.seconds)


def _unreadable(item: _GroundedWork) -> Decision:
    return Decision((), trace={"observe": {"error": item.error}}, seconds=item.seconds)
