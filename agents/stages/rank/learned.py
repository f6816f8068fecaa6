"""The ranking of the trained planner of `grounded`: one network scores elements, operations and values. Core."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.encoders import weights
from agents.encoders.embedding import Encoder
from agents.learned.prepare import PreparedStep, prepare
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts
from agents.stages.models import KEPT_MODELS, loaded
from agents.stages.rank.kinds import RankKind, model_words
from agents.stages.state import StepState
from agents.trace import traced_ranking
from agents.types import NoCandidates, Observation, RankedCandidate
from agents.words.rankings import Rankings
from annotations.dom.elements import DescribedElement
from annotations.dom.limits import PageError

if TYPE_CHECKING:
    from agents.learned.model import LearnedModel, LearnedPrediction


class LearnedElements(RankKind):
    """Orders the elements by the probabilities of a trained network, and keeps its operations and values for the stage
    `plan`."""

    reads = frozenset({"rank.model", "plan.model"})
    embeds_memory = True

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return (
            f"{recipe.plan.model} orders the elements by what it learned of the instruction and of each, as "
            f"{model_words(recipe)} embeds them."
        )

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.encoder: Encoder = parts.the_encoder()
        self.model: LearnedModel = loaded("plan.model", self.recipe.plan.model, _learned)
        if self.encoder.name != self.model.encoder_name:
            raise CannotRun(
                f"the planner was trained with {self.model.encoder_name}, the recipe ranks with {self.encoder.name}"
            )
        parts.rankings = Rankings(self)

    def run(self, states: Sequence[StepState]) -> None:
        prepared = [self._prepared(state) for state in states]
        found = [(state, step) for state, step in zip(states, prepared, strict=True) if step is not None]
        predictions = self._predict([step for _, step in found], [state.observation for state, _ in found])
        for (state, step), best in zip(found, predictions, strict=True):
            state.ranking, state.best = _ranking(step, best[0]), tuple(best)
            state.note("rank", elements=len(step.page.everything), candidates=len(state.ranking))
            state.note("rank", query=state.observation.instruction, top=traced_ranking(state.ranking))

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        """The rankings of past steps. Raises PageError and NoCandidates."""
        steps = [self._read(observation) for observation in observations]
        predictions = self._predict(steps, observations)
        return [_ranking(step, best[0]) for step, best in zip(steps, predictions, strict=True)]

    def _read(self, observation: Observation) -> PreparedStep:
        return prepare(observation, self.model.common, self.model.related, self.model.habits)

    def _prepared(self, state: StepState) -> PreparedStep | None:
        try:
            return self._read(state.observation)
        except (PageError, NoCandidates) as error:
            state.fail(str(error))
            return None

    def _predict(
        self, steps: Sequence[PreparedStep], observations: Sequence[Observation]
    ) -> "list[list[LearnedPrediction]]":
        return self.model.predict(steps, observations, self.encoder, self.recipe.plan.samples)


def _ranking(step: PreparedStep, prediction: "LearnedPrediction") -> tuple[RankedCandidate, ...]:
    order = np.argsort(-prediction.scores, kind="stable")
    return tuple(
        RankedCandidate(
            step.page.candidates[i].node_id, float(prediction.scores[i]), place, _described(step.page.candidates[i])
        )
        for place, i in enumerate(order)
    )


def _described(element: DescribedElement) -> str:
    return f"{element.role or element.tag} {' '.join((element.name or element.text).split()[:12])}".strip()


@lru_cache(maxsize=KEPT_MODELS)
def _learned(name: str) -> Any:
    from agents.learned.model import load

    return load(weights.source(name))
