"""`rank.kind=dual_encoder`: embedding similarity and the evidence that an untrained encoder cannot see. Core."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agents.encoders.embedding import Encoder
from agents.recipes.literature import Recipe
from agents.stages.kind import Beside, Parts, unless
from agents.stages.rank.dual_encoder import score_elements
from agents.stages.rank.element_text import element_texts
from agents.stages.rank.kinds import RankKind, has_own_page, model_words, with_page
from agents.stages.state import StepState
from agents.trace import traced_ranking
from agents.types import NoCandidates, Observation, RankedCandidate, Snippet
from agents.words.rankings import Rankings
from annotations.dom.elements import DescribedElement, elements
from annotations.dom.limits import PageError
from annotations.dom.weblinx_page import page_xml
from annotations.sandbox.deadline import page_deadline

SNIPPETS = "recall.memory=multifaceted with recall.k of at least 1"


@dataclass(frozen=True)
class _OfferedPage:
    """The elements of a page that may be chosen, with the texts that are embedded."""

    elements: list[DescribedElement]
    texts: list[str]
    total: int  # of all elements


class SimilarElements(RankKind):
    """Orders elements by their similarity to the instruction, which recalled snippets shift by how similar they are."""

    tells_best = True
    reads = frozenset(
        {
            "rank.model",
            "rank.lexical_weight",
            "rank.role_weight",
            "rank.order_weight",
            "rank.option_weight",
            "rank.link_penalty",
            "rank.repeat_penalty",
            "recall.weight",
        }
    )
    takes = frozenset({"instruction", "snippets"})
    embeds_memory = True

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        recalls = unless("snippets" in beside.blocks, SNIPPETS, "recall.weight")
        return super().idle(beside) | recalls

    @classmethod
    def taken(cls, recipe: Recipe) -> frozenset[str]:
        return cls.takes if recipe.recall.weight else cls.takes - {"snippets"}

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        rank = recipe.rank
        evidence = (rank.lexical_weight, rank.role_weight, rank.order_weight, rank.option_weight)
        more = " Words in common, reading order and named options count too." if any(evidence) else ""
        return f"Embeds the instruction and every element with {model_words(recipe)} and compares them.{more}"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.encoder: Encoder = parts.the_encoder()
        parts.rankings = Rankings(self)

    def run(self, states: Sequence[StepState]) -> None:
        sources = [with_page(state.observation) for state in states]
        pages = [self._offered(state, source) for state, source in zip(states, sources, strict=True)]
        found = [(state, page) for state, page in zip(states, pages, strict=True) if page is not None]
        queries = self._queries([state for state, _ in found])
        self._encode([page for _, page in found])
        for (state, page), query in zip(found, queries, strict=True):
            state.ranking, order = self._ranked(page, query, state.observation)
            state.best = tuple(page.elements[place] for place in order[: self.recipe.plan.samples])
            state.note("rank", elements=page.total, candidates=len(state.ranking))
            state.note("rank", query=state.observation.instruction, top=traced_ranking(state.ranking))

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        """The rankings of past steps, without memory. Raises PageError and NoCandidates."""
        pages = [_offered_page(observation) for observation in observations]
        vectors = self.encoder.encode([observation.instruction for observation in observations])
        return [self._ranked(*step)[0] for step in zip(pages, vectors, observations, strict=True)]

    def _offered(self, state: StepState, source: Observation) -> _OfferedPage | None:
        state.ranked_turn = source.demo_turn if source is not state.observation else None
        if not has_own_page(source):  # a WebLINX turn before the first page
            state.note("rank", query=state.observation.instruction, top=[])
            return None
        try:
            return _offered_page(source if state.ranked_turn is None else _at_its_turn(source))
        except (PageError, NoCandidates) as error:
            state.fail(str(error))
            return None

    def _queries(self, states: Sequence[StepState]) -> list[np.ndarray]:
        """Unit vectors: the instruction, moved towards the recalled snippets."""
        own = self.encoder.encode([state.instruction for state in states])
        return [self._query(state.snippets, vector) for state, vector in zip(states, own, strict=True)]

    def _query(self, snippets: Sequence[Snippet], own: np.ndarray) -> np.ndarray:
        weight = self.recipe.recall.weight
        if not snippets or not weight:
            return own
        recalled = self.encoder.encode([snippet.instruction for snippet in snippets])
        similarity = np.array([max(0.0, snippet.similarity or 0.0) for snippet in snippets], dtype=np.float32)
        if not similarity.sum():
            return own
        mixed = (1 - weight) * own + weight * (similarity @ recalled) / similarity.sum()
        unit: np.ndarray = mixed / np.linalg.norm(mixed)
        return unit

    def _encode(self, pages: Sequence[_OfferedPage]) -> None:
        """Encode the elements of all pages at once, so that a text they share is encoded once."""
        self.encoder.encode(list(dict.fromkeys(text for page in pages for text in page.texts)))

    def _ranked(
        self, page: _OfferedPage, query: np.ndarray, observation: Observation
    ) -> tuple[tuple[RankedCandidate, ...], list[int]]:
        """The ranking of a page, and the places of the ranked elements in it."""
        names = [
            f"{element.name} {element.text}" if element.name != element.text else element.name
            for element in page.elements
        ]
        vectors = self.encoder.encode(page.texts)
        scores = score_elements(page.elements, names, vectors, query, observation, self.recipe.rank)
        order = np.argsort(-scores, kind="stable")
        ranking = tuple(
            RankedCandidate(page.elements[i].node_id, float(scores[i]), place, page.texts[i])
            for place, i in enumerate(order)
        )
        return ranking, order.tolist()


@page_deadline()
def _at_its_turn(observation: Observation) -> Observation:
    """The observation with the page of its WebLINX turn, which is an earlier one than the step's."""
    assert observation.demo is not None
    turn, pages = observation.demo.turns[observation.demo_turn], observation.demo.pages
    page, _ = page_xml(pages.page_html(turn) or "", pages.bboxes(turn) or {})
    return replace(observation, html=page, candidate_ids=())


@page_deadline()
def _offered_page(observation: Observation) -> _OfferedPage:
    everything = elements(observation.root)
    texts = element_texts(everything)
    wanted = set(observation.candidate_ids)
    offered = [e for e in everything if (e.node_id in wanted if wanted else e.interactive or e.name)]
    if not offered:
        raise NoCandidates("the page has no element to choose from")
    return _OfferedPage(offered, [texts[element.node_id] for element in offered], len(everything))
