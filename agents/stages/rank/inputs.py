"""What a ranker reads of a step: one query and a text per candidate. Core."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agents.stages.rank.element_text import element_texts
from agents.stages.rank.query import ranker_query
from agents.types import Observation, RankedCandidate
from agents.weblinx.documents import ElementLimit, documents, render
from agents.weblinx.query import HISTORY_TURNS, dmr_query
from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.tokens import SpanTokenizer
from agents.weblinx.turns import Demo, ReplayTurn
from agents.words.memory_text import memory_text
from annotations.dom.candidates import format_candidates
from annotations.dom.elements import elements
from annotations.dom.tree import Element
from annotations.sandbox.deadline import page_deadline


@dataclass(frozen=True)
class RankingInput:
    """One query and its candidates, in the order that decides between equal scores; the four tuples are parallel.

    `carried`: the part of a text that does not change when the element only moves on the page, by which the same
    element is known at the next step. `labels` are for people.
    """

    query: str
    node_ids: tuple[str, ...]
    texts: tuple[str, ...]
    carried: tuple[str, ...]
    labels: tuple[str, ...]


class InputRanker:
    """A ranker that makes an input of each observation, WebLINX documents where it has recorded turns, and ranks these
    together."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        """Each observation's candidates, best first. Raises PageError for a page that cannot be read."""
        return self.rank_inputs([self.input(observation) for observation in observations])

    def input(self, observation: Observation) -> RankingInput:
        raise NotImplementedError

    def rank_inputs(self, steps: Sequence[RankingInput]) -> list[tuple[RankedCandidate, ...]]:
        raise NotImplementedError


@dataclass(frozen=True)
class WeblinxText:
    """The settings of WebLINX queries and documents (A3.3, A3.4 and the context-analysis paper's variants)."""

    history_turns: int = HISTORY_TURNS
    limit: ElementLimit = field(default_factory=ElementLimit)
    quirks: WeblinxQuirks = FAITHFUL


PUBLISHED = WeblinxText()


@page_deadline()
def candidate_input(observation: Observation) -> RankingInput:
    """The cross encoder's texts (sources.md M3).

    Raises PageError for a page that cannot be read, and what `format_candidates` raises for an impossible candidate.
    """
    root = observation.root
    labels = _labels(root, observation)
    texts = tuple(format_candidates(root, labels).values())
    query = ranker_query(observation.instruction, [past.representation for past in observation.turn_actions])
    return RankingInput(query, tuple(labels), texts, texts, tuple(labels.values()))


@page_deadline()
def element_input(observation: Observation) -> RankingInput:
    """The instruction and actions of the turn so far as the query, short element texts as candidates: for dense ranking
    of steps that are no WebLINX turns."""
    labels = _labels(observation.root, observation)
    texts = tuple(labels.values())
    query = memory_text(observation.instruction, [past.representation for past in observation.turn_actions])
    return RankingInput(query, tuple(labels), texts, texts, texts)


@page_deadline()
def weblinx_input(
    observation: Observation, text: WeblinxText = PUBLISHED, tokenizer: SpanTokenizer | None = None
) -> RankingInput:
    """`turn_input` of the observation's turn. ValueError for an observation without recorded turns."""
    if observation.demo is None:
        raise ValueError("the observation has no recorded WebLINX turns")
    return turn_input(observation.demo, observation.demo.turns[observation.demo_turn], text, tokenizer)


def turn_input(
    demo: Demo, turn: ReplayTurn, text: WeblinxText = PUBLISHED, tokenizer: SpanTokenizer | None = None
) -> RankingInput:
    """Documents of the visible elements against the last turns; `tokenizer` only for a limit in tokens."""
    docs = documents(demo, turn, text.limit, tokenizer)
    return RankingInput(
        dmr_query(demo, turn, text.history_turns, text.quirks),
        tuple(doc.uid for doc in docs),
        tuple(doc.text for doc in docs),
        tuple(render({name: value for name, value in doc.fields.items() if name != "bbox"}) for doc in docs),
        tuple(f"{doc.fields['tag']} {' '.join(doc.fields['text'].split())}".strip() for doc in docs),
    )


def in_order(step: RankingInput, scores: Iterable[float]) -> tuple[RankedCandidate, ...]:
    """The candidates, best score first, ranks from 0; ties keep the given order.

    A repeated id keeps its first place and its last score (A5.2).
    """
    last = dict(zip(step.node_ids, zip(scores, step.labels, strict=True), strict=True))
    order = sorted(last, key=lambda node_id: -last[node_id][0])
    return tuple(
        RankedCandidate(node_id, float(last[node_id][0]), rank, last[node_id][1]) for rank, node_id in enumerate(order)
    )


def _labels(root: Element, observation: Observation) -> dict[str, str]:
    """Node id -> short text of each candidate; without given candidates, of every element that is interactive or has a
    name."""
    everything = elements(root)
    texts = element_texts(everything)
    wanted: Iterable[str] = observation.candidate_ids or (e.node_id for e in everything if e.interactive or e.name)
    return {node_id: texts.get(node_id, "") for node_id in wanted}
