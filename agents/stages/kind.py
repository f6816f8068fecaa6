"""The base class of the kinds of stages, and what the kinds of a recipe share. Core."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from agents.encoders.embedding import Encoder
from agents.encoders.kept import VectorStore
from agents.guard.policy import PolicyRule
from agents.llm.protocol import Llm
from agents.prompts.packs import PACKAGED, Pack, webnav
from agents.recipes.declaring import value_of
from agents.recipes.literature import Recipe
from agents.stages.state import StepState
from agents.types import Memory, Observation, Ranker
from agents.words.exemplar_sets import ExemplarSets
from agents.words.generator import Generator
from agents.words.past import PastPages
from agents.words.past_step import MissingRationales
from agents.words.rankings import Rankings
from agents.world_model.remembered import Remembered


class CannotRun(ValueError):
    """The recipe lacks something; the message says what and how to get it."""


class Planned(Protocol):
    """Plans steps by the stages up to `plan`, as the recipe says."""

    def __call__(self, observations: Sequence[Observation]) -> list[StepState]: ...


@dataclass
class Parts:
    """What the kinds of one recipe share. `ranker` and `generator`, where given, are used instead of all those that the
    recipe names."""

    recipe: Recipe
    seed: int = 0
    llm: Llm | None = None
    memory: Memory | None = None
    encoder: Encoder | None = None  # of memory, exemplars and workflows
    writer: MissingRationales | None = None  # asked for rationales that nobody has written
    ranker: Ranker | None = None
    generator: Generator | None = None
    pack: Pack | None = None  # None: the packaged one
    sets: ExemplarSets | None = None  # exemplar sets, for agents that write programs
    remembered: Remembered | None = None  # past transitions, for kinds of `imagine`, and the guard
    policy: Sequence[PolicyRule] = ()  # of the guard, on the websites of the run
    vectors: VectorStore | None = None  # what rankers computed before
    planner_asks: bool = True  # whether the planner asks a model
    shown: frozenset[str] = frozenset()  # blocks that the kind of `compose` shows
    ranker_embeds: bool = False  # the ranking model embeds memory, in its published form
    planner: Generator | None = field(init=False, default=None)  # the model that plans, once it is asked for
    planned: Planned = field(init=False)  # by the pipeline that is made of these parts, for kinds that look further
    rankings: Rankings = field(init=False)  # made by the kind of `rank`, used by kinds that show past pages
    _past_pages: PastPages | None = field(init=False, default=None)

    @property
    def words(self) -> Pack:
        """The texts that models are given. CannotRun where the recipe names a pack of somebody and none is given."""
        if self.pack is None and self.recipe.prompts.pack != PACKAGED:
            raise CannotRun(f"prompts.pack={self.recipe.prompts.pack}: no such prompt pack was given")
        return self.pack or webnav()

    def past_pages(self) -> PastPages:
        """Past steps as prompts of trajectories show them, one object for all kinds of the recipe."""
        if self._past_pages is None:
            self._past_pages = PastPages(self.rankings, self.recipe.simplify.history_elements)
        return self._past_pages

    def the_memory(self) -> Memory:
        if self.memory is None:
            raise CannotRun(f"{self.recipe.name} recalls, and no memory was given")
        return self.memory

    def the_encoder(self) -> Encoder:
        if self.encoder is None:
            raise CannotRun(f"{self.recipe.name} compares texts, and no encoder was given")
        return self.encoder


RECALLED = "recall.memory other than none, and recall.k of at least 1 where it counts"
SEEN = "observe.observation other than image, which shows no text of the page"
SEEDS = {
    "seeds": "What is drawn at random (the order of candidates, the elements beside a snippet's, exemplars) is drawn "
    "with the run's seed for each step; the published evaluations never seed (Q24)."
}
"""A deviation of kinds that draw."""


@dataclass(frozen=True)
class Beside:
    """What else a recipe chooses, as far as it decides which settings of a kind count."""

    recipe: Recipe
    blocks: frozenset[str]  # given by a stage and taken by a later one
    ranked: bool  # the elements, when a stage recalls; a ranking that takes what is recalled comes later
    planner_asks: bool  # a model plans
    sees_text: bool  # of the page: not a screenshot alone


def unless(holds: bool, wants: str, *settings: str) -> dict[str, str]:
    """The settings with what they need, in words; none of them where that is so."""
    return {} if holds else dict.fromkeys(settings, wants)


def prompt_of(tokens: int) -> str:
    """What a kind of `compose` gives to the next stage, in words."""
    return f"prompt of at most {tokens:,} tokens"


class StageKind:
    """The base of the kinds: a kind is one way to do a stage, for a batch of steps at once.

    `reads`: dotted names of the settings that it reads; `idle` and `overrules` say which of them would change nothing
    beside others. `takes` and `gives` name blocks: instruction (where it is rewritten), memory, snippets, exemplars,
    workflows, exemplar_set. A change of a recipe that chooses a kind whose blocks no other kind takes is refused before
    anything runs.
    """

    stage: ClassVar[str]
    reads: ClassVar[frozenset[str]] = frozenset()
    takes: ClassVar[frozenset[str]] = frozenset()
    gives: ClassVar[frozenset[str]] = frozenset()
    counted_by: ClassVar[str] = ""  # of recall: the setting that says how many it gives
    embeds_memory: ClassVar[bool] = False  # of a ranking: memory is embedded by its encoder
    embeds: ClassVar[bool] = False  # of recall: what it finds is compared by vectors
    asks_as_planner: ClassVar[bool] = False  # it asks the planner's model, or the endpoint's where none plans
    counts_equals: ClassVar[bool] = False  # of imagine: each of several equal samples counts as a vote
    keeps_scores: ClassVar[bool] = False  # of a ranking: scores or vectors of a page are kept between runs
    tells_best: ClassVar[bool] = False  # of a ranking: hands on what it knows of the best elements, not only their ids
    instead: ClassVar[Mapping[str, str]] = {}  # settings to use instead where the model knows too little
    loads_weights: ClassVar[bool] = True  # of a ranking: its model has weights; False for scores made elsewhere
    runs: ClassVar[bool] = True  # a pipeline runs it; not one that another kind of its stage asks

    def __init__(self, parts: Parts) -> None:
        self.parts, self.recipe = parts, parts.recipe

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        """What it does, as a recipe's page says it: by default the first paragraph of its docstring."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())

    @classmethod
    def title(cls) -> str:
        """What the drawing of a recipe calls it: by default the name of its class in words."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        """What it gives to the next stage, in a few words for the drawing; "" for nothing of its own."""
        return ""

    @classmethod
    def gives_none(cls, recipe: Recipe) -> bool:
        """Whether 0 of what it gives are asked for: the recipe goes without it then, as if it chose none."""
        return bool(cls.counted_by) and not value_of(recipe, cls.counted_by)

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        """Settings that it reads and that would change nothing as the others are, each with what it needs, in words:
        "plan.backend=local"."""
        return {}

    @classmethod
    def overrules(cls, recipe: Recipe) -> dict[str, str]:
        """Settings of other kinds that would change nothing beside it, each with what it needs, in words."""
        return {}

    @classmethod
    def taken(cls, recipe: Recipe) -> frozenset[str]:
        """The blocks of `takes` that count with these settings."""
        return cls.takes

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        """Why it does not go with other settings of the recipe, in a sentence; "" where it does."""
        return ""

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        """What this installation lacks to run it, with how to get it. Endpoints are not among it: `asks_llm` tells
        that."""
        return []

    @classmethod
    def searches(cls, recipe: Recipe) -> frozenset[str]:
        """What a dataset must hold before a run: `exemplars`, `workflows`, `exemplar_sets`, `screenshots`."""
        return frozenset()

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        """Whether it asks a language model at an endpoint."""
        return False

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        """Where it differs from the code or paper that it follows: name -> a sentence, which every report prints."""
        return {}

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        """What an observation must tell it beside the page: `history` (the turn's earlier steps with pages),
        `leaked_gold`, `screenshot`."""
        return frozenset()

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        """The texts of a prompt pack that it gives to models."""
        return frozenset()

    @classmethod
    def shown_examples(cls, recipe: Recipe) -> dict[str, int]:
        """The texts of a prompt pack that hold worked examples, each with how many of them it shows."""
        return {}

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        """The kind of model that is trained for it, "" for none, and the settings of that training that the recipe
        decides, so that the model learns from the inputs that it will be given."""
        return "", {}

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        """Prepare what is searched, embedded or read while these conversations are decided. CannotRun says why there is
        nothing to search."""

    def run(self, states: Sequence[StepState]) -> None:
        """Do the stage for all these states. What fails for one of them is recorded at that one."""
        raise NotImplementedError
