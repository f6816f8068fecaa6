"""`imagine.value`: what an expected outcome is worth, by a language model or by past transitions. Core."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from agents.recipes.literature import Recipe
from agents.stages.imagine.considered import Considered
from agents.stages.imagine.model_questions import Asking
from agents.stages.imagine.scores import PROGRESS, READINGS, Valuation, is_graded, progress
from agents.stages.kind import Beside, CannotRun, Parts, StageKind, unless
from agents.stages.known import imagines_several, kinds
from agents.stages.models import lacking_model
from agents.world_model.predicting import Prediction
from agents.world_model.valuing import EmbeddedValue

DRAWN = "imagine.temperature above 0"
SEVERAL = "imagine.samples of at least 2"


class Valuing(StageKind):
    """The base of kinds of `imagine.value`, which the kind of `imagine` asks what outcomes are worth. `model`: the
    endpoint's model to ask, "" for the planner's."""

    stage = "imagine"
    runs = False
    asks: ClassVar[bool] = False  # a language model, with a text of the pack
    values_pages: ClassVar[bool] = False  # also whole pages and actions without an outcome, not changes in words alone
    names_weights: ClassVar[bool] = False  # it runs a model that was trained here
    by_loop: ClassVar[bool] = False  # its answers are read otherwise in each of the published loops
    words: ClassVar[str] = ""  # its name in a sentence about a recipe

    def __init__(self, parts: Parts, model: str = "") -> None:
        super().__init__(parts)
        self.model = model

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        imagining = kinds()["imagine.kind"]
        asking = [name for name, kind in imagining.items() if "imagine.value" in kind.reads]
        asked = f"imagine.kind={' or '.join(asking)}"
        return (
            unless(beside.recipe.imagine.temperature > 0, DRAWN, "imagine.value_samples")  # else all are the same
            | unless(imagines_several(beside.recipe), SEVERAL, *cls.reads)
            | unless(beside.recipe.imagine.kind in asking, asked, *cls.reads)
        )

    def value(self, considered: Sequence[Considered], text: str) -> None:
        """Set the score of each action. `text`: the name of the pack's text that asks for a value."""
        raise NotImplementedError


class AskedValue(Valuing):
    """A language model grades each outcome from 1 to 5, several times."""

    reads = frozenset({"imagine.value_samples"})
    asks = True
    asks_as_planner = True
    values_pages = True
    words = "a language model grades the outcomes"

    def __init__(self, parts: Parts, model: str = "") -> None:
        super().__init__(parts, model)
        self.asking = self._asking()

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return recipe.plan.backend == "endpoint"

    def _asking(self) -> Asking:
        return Asking.of_endpoint(self.parts, self.recipe.imagine.max_new_tokens, self.model)

    def value(self, considered: Sequence[Considered], text: str) -> None:
        asked = []
        for one in considered:
            page = self.asking.cut(one.page or one.tree)
            effect = {} if one.expected is None else {"next_state": one.expected}
            asked.append((one.state, one.filled(observation=page, action=one.words, **effect)))
        imagine = self.recipe.imagine
        read, samples = self._reading(), imagine.value_samples if imagine.temperature else 1
        for one, answer in zip(considered, self.asking.answers(text, asked, samples), strict=True):
            one.score = read(answer.texts)
            unread = [self._is_ungraded(*said) for said in zip(answer.texts, one.score.each, strict=True)]
            one.ungraded = sum(unread)
            one.graded = [
                text for _, text in sorted(zip(unread, answer.texts, strict=True), key=lambda said: not said[0])
            ]

    def _reading(self) -> Callable[[Sequence[str]], Valuation]:
        """How its answers become one score."""
        return READINGS[self.recipe.preset]

    def _is_ungraded(self, answer: str, grade: float | None) -> bool:
        """Whether no grade was read from an answer: grades begin at 1, and the published way reads 0 where it finds
        none."""
        return not grade


class ProgressValue(AskedValue):
    """A model trained here says how much of the task is done after each outcome, from 0 to 1, several times."""

    reads = AskedValue.reads | {"imagine.value_model"}
    asks_as_planner = False
    values_pages = False
    names_weights = True
    by_loop = True
    words = "a model trained here says how far on the way each outcome is"

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return False

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        trainer = "manage.py train_world_model DATASET --value"
        return lacking_model("imagine.value_model", recipe.imagine.value_model, "", trainer)

    def _asking(self) -> Asking:
        settings = self.recipe.imagine
        return Asking.of_weights(self.parts, "imagine.value_model", settings.value_model, settings.max_new_tokens)

    def _reading(self) -> Callable[[Sequence[str]], Valuation]:
        return PROGRESS[self.recipe.imagine.loop] if self.recipe.preset == "faithful" else progress

    def _is_ungraded(self, answer: str, grade: float | None) -> bool:
        return not grade and not is_graded(answer)


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

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        self.remembered.prepare()
        self.weights = self.remembered.value()

    def value(self, considered: Sequence[Considered], text: str) -> None:
        for one in considered:
            worth = self.weights.of(one.situation, one.prediction or Prediction((), 0.0, 0.0))
            one.score = Valuation(worth, (worth,))


def value_of_outcomes(recipe: Recipe) -> type[Valuing]:
    """The kind of `imagine.value` that a recipe chooses."""
    kind = kinds()["imagine.value"].get(recipe.imagine.value)
    if kind is None or not issubclass(kind, Valuing):
        raise CannotRun(f"imagine.value={recipe.imagine.value}: there is no such kind")
    return kind


def values_with(what: str) -> str:
    """The values of `imagine.value` whose kind says so, in words: "imagine.value=likert or progress"."""
    found = [name for name, kind in kinds()["imagine.value"].items() if getattr(kind, what, False)]
    return f"imagine.value={' or '.join(found)}"


def values_words(setting: str, recipe: Recipe) -> str:
    """Why a setting, by which outcomes are no change in words, does not go with what values them; "" where it does."""
    if value_of_outcomes(recipe).values_pages:
        return ""
    said = f"{setting} does not go with imagine.value={recipe.imagine.value}, which values a change in words"
    return f"{said}: take {values_with('values_pages')}"
