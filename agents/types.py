"""The types that stages exchange: observation in, decision out; and what calls of models use.

Core: frozen, no Django, no torch.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from agents.weblinx.turns import Demo
from annotations.dom.limits import PageError
from annotations.dom.tree import Element, parse

STAGES = ("observe", "rank", "recall", "simplify", "compose", "plan", "imagine", "act")
"""The words of the stages: trace keys, panels of the replay page and timings use them."""


@dataclass(frozen=True)
class Image:
    """A picture of a page, as models are shown it: the encoded file, not pixels."""

    data: bytes = field(repr=False)
    media_type: str = "image/png"

    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def data_url(self) -> str:
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True)
class Action:
    """Operation, target element and value; `node_id` is None for operations without an element."""

    operation: str
    node_id: str | None = None
    value: str = ""
    point: tuple[float, float] | None = None  # of a live page's window, where a person clicked; agents say none

    def operation_text(self) -> str:
        """ "OP value" as the operation F1 compares it; a CLICK has no value (sources.md M6.1)."""
        return f"{self.operation} {'' if self.operation == 'CLICK' else self.value}".strip()


@dataclass(frozen=True)
class PastAction:
    """An action that was done, as models read it: "[button]  Search -> CLICK"."""

    representation: str
    operation: str
    node_id: str | None
    value: str = ""


class OnPage:
    """A step by its page and its place in the conversation."""

    html: str
    turn_index: int
    step_index: int

    @cached_property
    def root(self) -> Element:
        """The page, parsed when it is first asked for and carried from then on; not to be changed. PageError says which
        step has none."""
        if not self.html.strip():
            raise PageError(f"no page was recorded at turn {self.turn_index + 1}, step {self.step_index + 1}")
        return parse(self.html)


@dataclass(frozen=True)
class Observation(OnPage):
    """What an agent is given at a step. Holds nothing about the gold action, but for `leaked_gold`."""

    key: int  # of the step, for the caller to match decisions
    conversation: int
    turn_index: int
    step_index: int  # within the turn
    website: str
    domain: str
    subdomain: str
    instruction: str
    html: str
    candidate_ids: tuple[str, ...] = ()  # empty: every element of the page may be ranked
    turn_actions: tuple[PastAction, ...] = ()  # earlier actions of this turn
    earlier_instructions: tuple[str, ...] = ()  # of earlier turns, oldest first
    score_key: str = ""  # "{annotation_id}_{action_uid}": how score files name the step
    screenshot: Image | None = None  # only for recipes that look at it
    turn_steps: tuple["RecordedStep", ...] = ()  # `turn_actions` with their pages, for trajectory prompts
    demo: Demo | None = None  # WebLINX: the recorded turns; none after `demo_turn` may be read
    demo_turn: int = 0  # number of the current one
    leaked_gold: tuple[str, ...] = ()  # under quirk Q18 only: the published prompts show the gold element
    url: str = ""  # of a live page
    markup: str = ""  # of a live page its own HTML, where its environment tells it

    @property
    def is_imagined(self) -> bool:
        """Whether nobody has seen this page: it is expected after an action. No recorded step has such a key."""
        return self.key < 0


@dataclass(frozen=True)
class RecordedStep:
    """A step whose gold action may be shown: earlier in the conversation, or of the train split."""

    observation: Observation
    action: PastAction
    positive_ids: tuple[str, ...] = ()
    rationale: str | None = None
    raw_html: str = ""  # the page as recorded, where cleaning lost the target and the data hold it
    shown: str = ""  # of a planner that writes programs: what it saw of the page
    program: str = ""  # and what it wrote, of which this action is a call


@dataclass(frozen=True)
class PromptExemplar:
    """A train trajectory for a prompt."""

    key: int
    source_id: str
    instruction: str
    steps: tuple[RecordedStep, ...]
    distance: float | None = None  # L2, of retrieval by meaning; the papers' FAISS indexes give its square


@dataclass(frozen=True)
class PromptWorkflow:
    """A routine with placeholders, for a prompt."""

    key: int
    name: str
    description: str
    body: str
    website: str
    distance: float | None = None  # L2, as an exemplar's

    def text(self) -> str:
        """The workflow as it stands in a prompt: heading, description, one action per line (sources.md M8.2)."""
        return f"## {self.name}\n{self.description}\n{self.body}"


@dataclass(frozen=True)
class Snippet:
    """A memory snippet that was recalled: one past step of the same conversation."""

    step: int
    turn_index: int
    step_index: int
    instruction: str
    action: str  # representation
    similarity: float | None  # cosine; None where order is not by similarity


class Memory(Protocol):
    """What the stages recall from. `agents/memory/retrieve.py` implements it over pgvector, tests over lists."""

    def snippets(self, observations: list[Observation], queries: Sequence[np.ndarray], k: int) -> list[list[Snippet]]:
        """The k nearest snippets of earlier turns for each observation, most similar first."""
        ...

    def earlier_steps(self, observation: Observation) -> list[RecordedStep]:
        """All steps of earlier turns, oldest first, without their pages."""
        ...

    def with_pages(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        """These steps, each with its page."""
        ...

    def exemplars(
        self, observation: Observation, query: np.ndarray | None, k: int, fixed: bool = False
    ) -> list[PromptExemplar]:
        """k trajectories of the train split: the nearest to a query first; without a query drawn from the site, else
        from the subdomain, else from all; or the same ones for every task (`fixed`)."""
        ...

    def workflows(self, observation: Observation, query: np.ndarray | None, k: int) -> list[PromptWorkflow]:
        """The k workflows nearest to a query; without a query those of the site, else k of the domain, or of all."""
        ...

    def prepare_snippets(self, conversation_ids: Sequence[int]) -> None:
        """Embed the snippets of these conversations, which `snippets` compares."""
        ...

    def prepare_exemplars(self) -> None:
        """Embed the exemplars. ValueError where there are none, saying why."""
        ...

    def prepare_workflows(self, embedded: bool) -> None:
        """Check that there are workflows; `embedded`: embed them, as they are searched by meaning. ValueError says how
        to get some."""
        ...


@dataclass(frozen=True)
class RankedCandidate:
    """One ranked element; `rank` counts from 0."""

    node_id: str
    score: float
    rank: int
    text: str  # short description for people


@dataclass(frozen=True)
class DecisionUsage:
    """Model calls of a decision; tokens are 0 where a stage has no tokenizer."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "DecisionUsage") -> "DecisionUsage":
        return DecisionUsage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class ImaginedStep:
    """An action that would follow one that was considered, on a page that is imagined. It is never carried out."""

    representation: str
    prediction: str = ""  # what it would change, in words
    confidence: float | None = None  # of all that is imagined up to here


@dataclass(frozen=True)
class Branch:
    """An action that was considered, and what was predicted of it."""

    action: Action
    representation: str = ""  # "[button]  Search -> CLICK"
    prediction: str = ""  # the next observation, in words
    value: float | None = None  # of the last observation that is imagined
    chosen: bool = False  # it is what the agent does
    by_value: bool = False  # its value is the best: as published, WMA may do another one (quirk wq23)
    further: tuple[ImaginedStep, ...] = ()  # what would follow it, with imagine.depth above 1


@dataclass(frozen=True)
class Decision:
    """The actions, one or several, that an agent decided on, and everything needed to understand them. `trace` maps the
    name of a stage to what it recorded."""

    actions: tuple[Action, ...]
    ranking: tuple[RankedCandidate, ...] = ()  # the whole ranking, best first
    memory: tuple[Snippet, ...] = ()
    exemplar_ids: tuple[int, ...] = ()
    workflow_ids: tuple[int, ...] = ()
    usage: DecisionUsage = DecisionUsage()
    trace: dict[str, Any] = field(default_factory=dict)  # JSON-serialisable
    seconds: dict[str, float] = field(default_factory=dict)  # per stage word
    branches: tuple[Branch, ...] = ()  # of stage `imagine`
    error: str = ""  # why there is no action although there should be; the stage that failed says it in its trace, too


class NoCandidates(ValueError):
    """A page without any element that may be ranked."""


class Ranker(Protocol):
    """Scores the candidates of many steps at once."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        """The candidates of each step, best first; where a step names none, all elements of its page."""
        ...


@dataclass(frozen=True)
class Spent:
    """What calls have used, added up over all workers; `seconds` are those in which a worker waited for a model."""

    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens + other.tokens, self.cost + other.cost, self.seconds + other.seconds)

    def __neg__(self) -> "Spent":
        return Spent(-self.tokens, -self.cost, -self.seconds)


@dataclass(frozen=True)
class SpendLimits:
    """The most that may be spent; None: no limit."""

    tokens: int | None = None
    cost: float | None = None  # in the currency of the prices
    seconds: float | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None and not value >= 0:
                raise ValueError(f"the limit on {each.name} must be 0 or more, got {value}")

    def exceeded(self, spent: Spent) -> str | None:
        """The first limit that does not allow `spent`, by its field's name. Time cannot be booked ahead: it is over
        when the limit is reached."""
        if self.tokens is not None and spent.tokens > self.tokens:
            return "tokens"
        if self.cost is not None and spent.cost > self.cost:
            return "cost"
        if self.seconds is not None and spent.seconds >= self.seconds:
            return "seconds"
        return None
