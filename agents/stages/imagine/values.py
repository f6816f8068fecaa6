"""`imagine.value`: what an expected outcome is worth, by a language model or by past transitions. Core."""

from collections.abc import Callable, Sequence

from agents.recipes.literature import Recipe
from agents.stages.imagine.considered import Considered
from agents.stages.imagine.model_questions import Asking
from agents.stages.imagine.scores import PROGRESS, READINGS, Valuation, progress
from agents.stages.kind import CannotRun, Parts
from agents.stages.models import lacking_model
from agents.world_model.predicting import Prediction
from agents.world_model.valuing import EmbeddedValue


class Valuing:
    """The base of ways to value an outcome. `model`: the endpoint's model to ask, "" for the planner's."""

    asks = False  # whether it asks a language model, with a text of the pack
    words = ""  # its name in a sentence about a recipe

    def __init__(self, parts: Parts, model: str = "") -> None:
        self.parts, self.recipe, self.model = parts, parts.recipe, model

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return []

    def prepare(self) -> None:
        """Prepare what is needed before the first step; nothing by default."""

    def value(self, considered: Sequence[Considered], text: str) -> None:
        """Set the score of each action. `text`: the name of the pack's text that asks for a value."""
        raise NotImplementedError


class AskedValue(Valuing):
    """A language model grades each outcome from 1 to 5, several times."""

    asks = True
    words = "a language model grades the outcomes"

    def __init__(self, parts: Parts, model: str = "") -> None:
        super().__init__(parts, model)
        self.asking = self._asking()

    def _asking(self) -> Asking:
        return Asking.of_endpoint(self.parts, self.recipe.imagine.max_new_tokens, self.model)

    def value(self, considered: Sequence[Considered], text: str) -> None:
        asked = []
        for one in considered:
            page = one.page or self.asking.cut(one.tree)
            effect = {} if one.expected is None else {"next_state": one.expected}
            asked.append((one.state, one.filled(observation=page, action=one.words, **effect)))
        imagine = self.recipe.imagine
        read, samples = self._reading(), imagine.value_samples if imagine.temperature else 1
        for one, answer in zip(considered, self.asking.answers(text, asked, samples), strict=True):
            one.score = read(answer.texts)

    def _reading(self) -> Callable[[Sequence[str]], Valuation]:
        """How its answers become one score."""
        return READINGS[self.recipe.preset]


class ProgressValue(AskedValue):
    """A model trained here says how much of the task is done after each outcome, from 0 to 1, several times."""

    words = "a model trained here says how far on the way each outcome is"

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        trainer = "manage.py train_world_model DATASET --value"
        return lacking_model("imagine.value_model", recipe.imagine.value_model, "", trainer)

    def _asking(self) -> Asking:
        settings = self.recipe.imagine
        return Asking.of_weights(self.parts, "imagine.value_model", settings.value_model, settings.max_new_tokens)

    def _reading(self) -> Callable[[Sequence[str]], Valuation]:
        return PROGRESS[self.recipe.imagine.loop] if self.recipe.preset == "faithful" else progress


class TransitionValue(Valuing):
    """Past transitions tell what an action is worth: whether people take such an action, and whether it does what is
    asked."""

    words = "past transitions tell how likely each is right"

    def __init__(self, parts: Parts, model: str = "") -> None:
        super().__init__(parts, model)
        if parts.remembered is None:
            raise CannotRun(f"{self.recipe.name} values by past transitions, and none were given")
        self.remembered = parts.remembered
        self.weights = EmbeddedValue()

    def prepare(self) -> None:
        self.remembered.prepare()
        self.weights = self.remembered.value()

    def value(self, considered: Sequence[Considered], text: str) -> None:
        for one in considered:
            worth = self.weights.of(one.situation, one.prediction or Prediction((), 0.0, 0.0))
            one.score = Valuation(worth, (worth,))


VALUES: dict[str, type[Valuing]] = {"likert": AskedValue, "progress": ProgressValue, "embedded": TransitionValue}
"""`imagine.value` -> what values."""
