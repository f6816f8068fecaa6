"""The kinds of `rank` that score every element of a page with a `Ranker`. Core."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agents.encoders import weights
from agents.encoders.kept import VectorStore
from agents.recipes.literature import Recipe
from agents.stages.kind import Beside, Parts, StageKind, unless
from agents.stages.models import KEPT_MODELS, base_counts, lacking_model, loaded, trainer_of
from agents.stages.rank.dmr import DmrEncoder, DmrRanker, dmr_encoder, multiplies_bfloat16, weblinx_text
from agents.stages.rank.inputs import WeblinxText
from agents.stages.rank.score_file import ScoreFileRanker
from agents.stages.state import StepState
from agents.trace import traced_ranking
from agents.types import Observation, Ranker
from agents.weblinx.documents import is_ranked
from agents.words.rankings import Rankings

WEBLINX_TEXT = (
    *("rank.history_turns", "rank.element_limit", "rank.element_limit_unit"),
    *("quirks.wq1_history_hides_attributes", "quirks.first_utterance_is_extra"),
)


class RankKind(StageKind):
    """The base of the kinds of `rank`: a model puts the elements in an order, and the best of them go on."""

    stage = "rank"

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        rank, turns = beside.recipe.rank, beside.recipe.data == "weblinx"
        words = "recorded WebLINX turns{}, as in the recipe weblinx-flan-t5"
        limited = turns and rank.element_limit > 0
        return unless(turns, words.format(""), *WEBLINX_TEXT) | unless(
            limited, words.format(" and rank.element_limit of at least 1"), "rank.element_limit_unit"
        )

    @classmethod
    def overrules(cls, recipe: Recipe) -> dict[str, str]:
        apart = f"rank.kind other than {recipe.rank.kind}, which embeds memory itself"
        return unless(not cls.embeds_memory, apart, "recall.encoder", "quirks.q11_item_without_trajectory")

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"best {recipe.rank.top_k} elements"

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        trainer = trainer_of("train_ranker", "rank.base", recipe)
        return lacking_model("rank.model", recipe.rank.model, recipe.rank.base, trainer)


class Ranked(RankKind):
    """A kind of `rank` that scores every element by a `Ranker`. A page that cannot be ranked fails only its own
    step."""

    reads = frozenset({"rank.model", "rank.base"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return super().idle(beside) | base_counts(beside.recipe, "rank", "train_ranker")

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.rankings = parts.rankings = Rankings(parts.ranker or self.load())

    def load(self) -> Ranker:
        """Load the ranker that the recipe names; CannotRun where there is none."""
        raise NotImplementedError

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        said = "A right element whose id a recorded page has twice counts once; the published recall counts it twice."
        return {"marked-twice": said} if recipe.data == "weblinx" else {}

    def run(self, states: Sequence[StepState]) -> None:
        sources = [with_page(state.observation) for state in states]
        for state, source, found in zip(states, sources, self.rankings.of(sources), strict=True):
            if isinstance(found, str):
                state.note("rank", kind=self.recipe.rank.kind, top=[])
                state.fail(found)
                continue
            state.ranking = found
            state.ranked_turn = source.demo_turn if source is not state.observation else None
            self.rankings.keep(state.observation.key, found)
            state.note("rank", kind=self.recipe.rank.kind, candidates=len(found), top=traced_ranking(found))


def model_words(recipe: Recipe) -> str:
    """The name of the ranking model, or in words which one it will be."""
    rank = recipe.rank
    return rank.model or (f"a model trained from {rank.base}" if rank.base else "a model that is not chosen yet")


class CrossEncoded(Ranked):
    """Query and element are read together (MindAct)."""

    reads = Ranked.reads.union(WEBLINX_TEXT)
    keeps_scores = True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Scores every element together with the instruction by {model_words(recipe)}."

    def load(self) -> Ranker:
        text, store = weblinx_text(self.recipe.rank, self.recipe.quirks), self.parts.vectors
        ranker: Ranker = loaded("rank.model", self.recipe.rank.model, lambda name: _cross_encoder(name, text, store))
        return ranker

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "cross_encoder", {}


class DenseMarkup(Ranked):
    """Query and element are embedded apart: dense markup ranking (WebLINX)."""

    reads = Ranked.reads.union(WEBLINX_TEXT, {"rank.exact"})
    keeps_scores = True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        turns, model = recipe.rank.history_turns, model_words(recipe)
        return f"Embeds the last {turns} turns and every element with {model} and compares them."

    def load(self) -> Ranker:
        settings = self.recipe.rank
        encoder: DmrEncoder = loaded("rank.model", settings.model, dmr_encoder)
        return DmrRanker(encoder, settings, self.recipe.quirks, self.parts.vectors)

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        rank = recipe.rank
        return "dual_encoder", {"history_turns": rank.history_turns, "element_limit": rank.element_limit}

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        said = "Scores below the first top_k are estimates, the order above them is not (rank.exact=true encodes all)."
        return super().deviations(recipe) | ({} if recipe.rank.exact else {"estimates": said})


class ScoredBefore(Ranked):
    """Takes scores from a file that was made elsewhere."""

    reads = Ranked.reads - {"rank.base"}
    loads_weights = False

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return f"Takes the scores of every element from the file {recipe.rank.model or '(none named)'}."

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        name = recipe.rank.model
        return [] if weights.find_file(name) else [f"a score file: rank.model={name!r} is no file"]

    def load(self) -> Ranker:
        ranker: Ranker = loaded("rank.model", self.recipe.rank.model, self._ranker)
        return ranker

    @staticmethod
    def _ranker(name: str) -> Ranker:
        return ScoreFileRanker(weights.find_file(name) or name)


@lru_cache(maxsize=KEPT_MODELS)
def _cross_encoder(name: str, text: WeblinxText, store: VectorStore | None) -> Ranker:
    """The cross encoder of that name. A starter computes in bfloat16 where that is faster: it reproduces no published
    number anyway."""
    from agents.stages.rank.cross_encoder import CrossEncoderRanker

    ranker = CrossEncoderRanker(name, weblinx=text, store=store)
    if name.startswith(weights.STARTER) and multiplies_bfloat16(ranker.device):
        ranker.compute_in_bfloat16()
    return ranker


def has_own_page(observation: Observation) -> bool:
    """Whether a step's own page is ranked: not that of a WebLINX turn without ranked elements, such as an utterance."""
    demo = observation.demo
    return demo is None or is_ranked(demo, demo.turns[observation.demo_turn])


def with_page(observation: Observation) -> Observation:
    """The observation whose elements are ranked: itself, or for a WebLINX turn without a page (an utterance) the
    nearest earlier turn that has one, as in the published prompts (sources.md A6.1)."""
    demo = observation.demo
    if demo is None or has_own_page(observation):
        return observation
    earlier = (turn.index for turn in reversed(demo.turns[: observation.demo_turn]) if is_ranked(demo, turn))
    return replace(observation, demo_turn=next(earlier, observation.demo_turn))
