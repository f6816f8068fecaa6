"""`imagine.kind`: the action that a world model and a value function find best (WMA; sources.md B3). Core."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from agents.recipes.literature import Recipe
from agents.stages.imagine import deviating, loops
from agents.stages.imagine.choosing import Choosing
from agents.stages.imagine.considered import Compared, Considered
from agents.stages.imagine.model_questions import NOTHING_DONE, Asking, previous
from agents.stages.imagine.scores import next_state
from agents.stages.imagine.values import DRAWN, SEVERAL, value_of_outcomes, values_with, values_words
from agents.stages.kind import Beside, CannotRun, Parts, unless
from agents.stages.known import imagines_every_sample, imagines_several
from agents.stages.models import lacking_model
from agents.stages.state import StepState
from agents.types import ImaginedStep
from agents.world_model.records import described
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.limits import PageError
from annotations.dom.webarena import pruned

ANSWERS_KEPT = 3  # of the value function, of each action in a trace: some draw twenty
MOST_SAID = 1_000  # characters of one of them, the last, as grades end answers
UNREAD = "the world model's answer could not be read"
WORLD_TEXTS = ("world_model", "world_model_page")  # texts that ask for the change, and for the whole page
VALUED = ("value", "share_weight")
ASKED = ("temperature", "top_p", "max_new_tokens", "page_tokens")
ASKED_NAMES = tuple(f"imagine.{name}" for name in ASKED)
# what counts where several actions are compared
COMPARED = (
    *(f"imagine.{name}" for name in (*VALUED, *ASKED, "depth", "predicts", "model")),
    *("quirks.webarena_hides_repeated_texts", "prompts.pack", *loops.WEBARENA_QUIRKS),
)
ENDPOINT = "plan.backend=endpoint"


def _by_endpoint(beside: Beside) -> bool:
    """Whether the model that is asked is the endpoint's, not the planner's weights."""
    return beside.recipe.plan.backend == "endpoint" or not beside.planner_asks


class Imagining(Choosing):
    """Predicts what each of the most frequent actions leads to, values it, and takes the action of the highest value,
    of equals the more frequent."""

    reads = Choosing.reads.union(
        loops.WEBARENA_QUIRKS,
        loops.MIND2WEB_QUIRKS,
        ("prompts.pack", "imagine.loop", "imagine.samples"),
        (f"imagine.{name}" for name in (*VALUED, *ASKED)),
    )
    foresees: ClassVar[bool] = False  # a model writes what is expected
    unsaid = UNREAD  # what prompts say where an outcome is not known
    names_weights: ClassVar[bool] = False  # imagine.model names weights, not a model of the endpoint

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.values = value_of_outcomes(self.recipe)(parts, self.endpoint_model)

    @property
    def endpoint_model(self) -> str:
        """The endpoint's model that is asked what actions lead to; "" for the planner's model."""
        return "" if self.names_weights else self.recipe.imagine.model

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        asks = cls.foresees or value_of_outcomes(beside.recipe).asks
        own_length = f"{values_with('names_weights')} or {ENDPOINT}"
        return (
            loops.idle(beside.recipe)
            | unless(beside.recipe.imagine.temperature > 0, DRAWN, "imagine.top_p")  # else all answers are the same
            | unless(cls.reads_length(beside), own_length, "imagine.max_new_tokens")
            | unless(asks, values_with("asks"), "prompts.pack", *ASKED_NAMES)
            | unless(imagines_several(beside.recipe), SEVERAL, *COMPARED)
        )

    @classmethod
    def reads_length(cls, beside: Beside) -> bool:
        """Whether the length of answers is its own, not that of the planner that answers."""
        return value_of_outcomes(beside.recipe).names_weights or _by_endpoint(beside)

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        settings = recipe.imagine
        actions = f"each of the {cls.actions(recipe)}"
        weighed = ", as the planner's own probability does" if settings.share_weight else ""
        value = value_of_outcomes(recipe).words
        return f"{cls.says(recipe)} {actions} would lead; {value}, which counts{weighed}, and the best one is taken."

    @classmethod
    def actions(cls, recipe: Recipe) -> str:
        """Which actions are compared, in words."""
        most = "different ones" if imagines_every_sample(recipe) else f"{recipe.imagine.samples} most frequent"
        return f"{most} of {recipe.plan.samples} sampled actions"

    @classmethod
    def says(cls, recipe: Recipe) -> str:
        """The beginning of a sentence about the recipe: who says where an action leads."""
        return "A world model says where"

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({cls.value_text(recipe)} if value_of_outcomes(recipe).asks else set())

    @classmethod
    def value_text(cls, recipe: Recipe) -> str:
        """The name of the pack's text that asks for the value of an outcome."""
        return "value"

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        try:
            self.values.prepare(conversation_ids)
        except ValueError as error:
            raise CannotRun(str(error)) from error

    def run(self, states: Sequence[StepState]) -> None:
        asking = [self._compared(state) for state in states if not state.error and self.drawn(state)]
        considered = [one for step in asking if not step.unvalued for one in step.found]
        self.imagine(considered)
        self.values.value(considered, self.value_text(self.recipe))
        for step in asking:
            self._take(step)

    def imagine(self, considered: Sequence[Considered]) -> None:
        """Set what each action is expected to lead to, and, with a depth above 1, what is done there and leads to."""
        for level in range(self.recipe.imagine.depth):
            considered = self.go_on(considered) if level else considered
            self.foretell(considered)

    def foretell(self, considered: Sequence[Considered]) -> None:
        """Set what the next action of each is expected to lead to."""
        raise NotImplementedError

    def go_on(self, considered: Sequence[Considered]) -> Sequence[Considered]:
        """Set which action would follow on each imagined page; those where there is one."""
        raise NotImplementedError

    def page(self, tree: str) -> str:
        """The part of a page's tree that prompts show."""
        return tree

    def _compared(self, state: StepState) -> Compared:
        drawn = self.drawn(state)
        found = self.compared(state, len(drawn) if imagines_every_sample(self.recipe) else self.recipe.imagine.samples)
        stopping, tree, unvalued = loops.stopping(self.recipe, found.choices), "", ""
        if len(found.choices) < 2:
            unvalued = "the only action drawn"
        elif stopping is not None:
            unvalued = "not imagined, as one of the actions stops"
        else:
            try:
                tree = accessibility_tree(state.observation.root)
            except PageError as error:  # planners that need no page have drawn actions all the same
                unvalued = f"not imagined: {error}"
        page = self.page(tree) if tree else ""
        self.note(state, found)
        considered = [
            Considered(state, action, share, tree, described(action, page) if action else "None", page, place)
            for place, (action, share) in enumerate(zip(found.choices, found.shares, strict=True))
        ]
        return Compared(state, considered, stopping or 0, unvalued)

    def _take(self, step: Compared) -> None:
        state, found, valued = step.state, step.found, not step.unvalued
        weight = self.recipe.imagine.share_weight
        ratings = [one.rating(weight) for one in found]
        best = max(range(len(found)), key=lambda place: ratings[place]) if valued else step.place
        taken = found[best].action
        if loops.takes_sample_of_that_place(self.recipe):
            taken = self.drawn(state)[best]
        state.note("imagine", scores=[list(one.score.each) for one in found] if valued else [])
        if valued and weight:
            state.note("imagine", ratings=[round(rating, 4) for rating in ratings if math.isfinite(rating)])
        _note_answers(state, found)
        state.close(taken)
        state.branches = tuple(
            self.branch(
                state,
                one.action,
                prediction=(one.foretold or self.unsaid) if valued else step.unvalued,
                further=tuple(one.steps[1:]),
                value=one.score.mean if valued else None,
                chosen=one.action == taken,
                by_value=place == best,
            )
            for place, one in enumerate(found)
        )


def _note_answers(state: StepState, found: Sequence[Considered]) -> None:
    """Note what of the models' answers people may want to read, and how many could not be."""
    if unread := sum(one.is_unread for one in found):
        state.note("imagine", unread=unread)
    if any(one.graded for one in found):
        state.note("imagine", graded=[[text[-MOST_SAID:] for text in one.graded[:ANSWERS_KEPT]] for one in found])
        state.note("imagine", ungraded=[one.ungraded for one in found])


class OnCutPages(Imagining):
    """Asks a language model about the page, cut to fit: the planner's model, or the endpoint's where the planner asks
    none."""

    asks_as_planner = True
    reads = Imagining.reads | {"imagine.model", "quirks.webarena_hides_repeated_texts"}

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.asking = self._asking()

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return super().idle(beside) | unless(_by_endpoint(beside), ENDPOINT, "imagine.model")

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return deviating.told(recipe, cls.names_weights, cls.foresees)

    def _asking(self) -> Asking:
        return Asking.of_endpoint(self.parts, answer_tokens(self.recipe), self.endpoint_model)

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return recipe.plan.backend == "endpoint"

    def page(self, tree: str) -> str:
        hides = self.recipe.quirks.webarena_hides_repeated_texts
        return self.asking.cut(pruned(tree) if hides else tree)


class WorldModel(OnCutPages):
    """A language model says what each of the most frequent actions leads to."""

    foresees = True
    reads = OnCutPages.reads | {"imagine.depth", "imagine.predicts"}
    instead: ClassVar[Mapping[str, str]] = {"imagine.kind": "retrieval", "imagine.value": "embedded"}

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        pages = value_of_outcomes(beside.recipe).values_pages
        return super().idle(beside) | unless(pages, values_with("values_pages"), "imagine.predicts")

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        return values_words("imagine.predicts=page", recipe) if recipe.imagine.predicts == "page" else ""

    @classmethod
    def says(cls, recipe: Recipe) -> str:
        if recipe.imagine.predicts == "page":
            return "A world model writes the whole page to which"
        return super().says(recipe)

    @classmethod
    def value_text(cls, recipe: Recipe) -> str:
        return "value_page" if recipe.imagine.predicts == "page" else super().value_text(recipe)

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        further = {"imagined_action"} if recipe.imagine.depth > 1 else set()
        if further and recipe.imagine.predicts != "page":
            further.add("imagined_page")
        return super().texts(recipe) | {world_text(recipe)} | further

    def foretell(self, considered: Sequence[Considered]) -> None:
        asked = [
            (
                one.state,
                one.filled(observation=self._imagined(one), action=one.next_action or one.words)
                | ({"previous": one.done} if one.done else {}),
            )
            for one in considered
        ]
        for one, answer in zip(considered, self.asking.answers(world_text(self.recipe), asked), strict=True):
            predicted = next_state(answer.text).text
            one.is_unread |= not predicted
            before = one.expected or ""
            one.add(ImaginedStep(one.next_action, predicted))
            if self.recipe.imagine.predicts == "page":  # the imagined page alone, without the actions before it
                one.expected = self.asking.cut(predicted) or before

    def _imagined(self, one: Considered) -> str:
        """The page as far as it is imagined: the predicted one, or that of the step with what is expected since, as a
        sentence alone names no element that could be acted on."""
        if not one.expected or self.recipe.imagine.predicts == "page":
            return one.expected or one.page
        return self.parts.words.prompt("imagined_page").fill(observation=one.page, change=one.expected)

    def go_on(self, considered: Sequence[Considered]) -> Sequence[Considered]:
        """Ask which action would follow on each imagined page."""
        for one in considered:
            so_far = [one.done or previous(one.state), one.next_action or one.words]
            one.done = "\n".join(line for line in so_far if line != NOTHING_DONE)
        asked = [
            (one.state, one.filled(observation=self._imagined(one)) | {"previous": one.done}) for one in considered
        ]
        for one, answer in zip(considered, self.asking.answers("imagined_action", asked), strict=True):
            one.next_action = answer.text.strip()
        return considered


class TrainedWorldModel(WorldModel):
    """A model trained here (manage.py train_world_model) says what each of the most frequent actions leads to."""

    asks_as_planner = False
    names_weights = True
    reads = WorldModel.reads - {"quirks.webarena_hides_repeated_texts"}
    instead: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return {name: wants for name, wants in super().idle(beside).items() if name != "imagine.model"}

    @classmethod
    def reads_length(cls, beside: Beside) -> bool:
        return True

    def page(self, tree: str) -> str:
        """The page as in training: cut, with nothing hidden."""
        return self.asking.cut(tree)

    def _asking(self) -> Asking:
        settings = self.recipe.imagine
        return Asking.of_weights(self.parts, "imagine.model", settings.model, answer_tokens(self.recipe))

    @classmethod
    def says(cls, recipe: Recipe) -> str:
        does = "writes the whole page to which" if recipe.imagine.predicts == "page" else "says where"
        return f"A world model trained here ({recipe.imagine.model or 'not named'}) {does}"

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return False

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return lacking_model("imagine.model", recipe.imagine.model, "", "manage.py train_world_model DATASET")


class ValueOnly(OnCutPages):
    """Each of the most frequent actions is valued as it is, without what it leads to (WMA Table 5)."""

    unsaid = "not imagined"
    tells_outcomes = False

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        return values_words(f"imagine.kind={recipe.imagine.kind}", recipe)

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        settings = recipe.imagine
        weighed = ", with the planner's own probability," if settings.share_weight else ""
        graded = f"the {cls.actions(recipe)}{weighed}"
        return f"A language model grades {graded} without seeing where they lead, and the best one is taken."

    @classmethod
    def value_text(cls, recipe: Recipe) -> str:
        return "value_only"

    def imagine(self, considered: Sequence[Considered]) -> None:
        """Set nothing: actions are valued without a prediction."""


def world_text(recipe: Recipe) -> str:
    """The name of the pack's text that asks a world model."""
    return WORLD_TEXTS[recipe.imagine.predicts == "page"]


def answer_tokens(recipe: Recipe) -> int:
    """The most tokens of a world model's answer; where it answers with a page, as many as a page is shown with."""
    settings = recipe.imagine
    return settings.page_tokens if settings.predicts == "page" else settings.max_new_tokens
