"""The base classes of the kinds of `plan`, with the stages that go with them. Core."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from agents.recipes.literature import Recipe
from agents.stages.answering import generator_of, sampling_of
from agents.stages.kind import Beside, Parts, StageKind, unless
from agents.stages.known import imagines_several, values_by_loop
from agents.stages.models import base_counts, lacking_model, trainer_of
from agents.stages.state import StepState
from agents.types import Decision, RecordedStep
from agents.words.generator import Generated, PlannerPrompt
from agents.words.shown_page import AnswerForm

REPAIRED = {
    "repaired": "Errors of the published code that mix up data or only stop it are not reproduced: element numbers "
    "shared between pages (Q2), settings of the command line that are ignored (Q13), the farthest workflows instead of "
    "the nearest (Q22), trajectories beside other tasks (Q21), the default model that its own counter refuses (Q23), "
    "exemplars that are not found without domain and subdomain (Q28)."
}
"""A deviation of planners whose code is published."""
SAMPLING = ("plan.temperature", "plan.top_p", "plan.samples")
DRAWN = "plan.temperature above 0"
COMPARED = "imagine.kind or act.ask other than none, as all actions of its planner are told to these alone"
# what counts only where several samples may be the same action
OF_REPLIES = ("quirks.unread_samples_compete", "quirks.wq21_stop_wins", "quirks.wq23_takes_sample_of_that_place")
MODEL_SETTINGS = frozenset({"plan.backend", "plan.model", "plan.base", "plan.max_new_tokens", *SAMPLING})


@dataclass(frozen=True)
class PublishedJudging:
    """How the published evaluation of a planner judges a step, where it differs from ours."""

    by_text: bool = False  # the action as it was written must equal the gold action's text (Q19, Q20)
    by_parts: bool = False  # of that text, what was read from it: operation, element and value as they were written
    keeps_punctuation: bool = False  # in the operation F1 (Q25)
    overlooks_tail: bool = False  # skipped steps at the end of a split are in no mean (Q6)


class Planning(StageKind):
    """The base of the kinds of `plan`. It closes every state, with or without an action, once no further round is
    needed.

    `before` are the kinds of `simplify` and `compose` that make the prompt it reads; they count tokens by its model.
    """

    stage = "plan"
    draws: ClassVar[bool] = False  # it leaves the actions of all samples in the state
    repeats: ClassVar[bool] = True  # samples can be equal; else each best action comes once, with its share
    asks: ClassVar[bool] = False  # it asks a model, with the prompt that `compose` made
    needs_ranking: ClassVar[bool] = True
    fails_unasked: ClassVar[bool] = False  # published code asks only where the gold element is in reach (Q27)
    form: ClassVar[AnswerForm | None] = None  # how answers about some elements of a page at a time are written
    takes_told: ClassVar[bool] = False  # it uses what a ranking with `tells_best` hands on
    ranks_only: ClassVar[bool] = False  # it plans no operation, so that its steps are right by their element alone
    takes_best: ClassVar[bool] = False  # it looks at the best element only, however many are kept
    acts_often: ClassVar[bool] = False  # one decision can be several actions
    of_turns: ClassVar[bool] = False  # it decides recorded WebLINX turns only
    judging: ClassVar[PublishedJudging | None] = None  # None: it judges as we do

    @classmethod
    def scores_by_shares(cls, recipe: Recipe) -> bool:
        """Whether the scores of its ranking are log-probabilities of which element is next."""
        return False

    @classmethod
    def judged(cls, recipe: Recipe) -> PublishedJudging | None:
        """`judging`, where the recipe makes a difference to it."""
        return cls.judging

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.plan.samples} actions" if cls.draws and recipe.plan.samples > 1 else "1 action"

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        recipe = beside.recipe
        drawn, compared = recipe.plan.temperature > 0, compared_by(recipe) != ""
        several = cls.repeats or not compared or recipe.act.ask != "none" or imagines_several(recipe)
        return (
            unless(drawn, DRAWN, "plan.top_p")
            | unless(cls.repeats or compared, COMPARED, "plan.temperature")
            | unless(drawn and compared, f"{DRAWN}, and {COMPARED}", "plan.samples")
            | unless(several, "imagine.samples of at least 2", "plan.temperature", "plan.samples")
        )

    @classmethod
    def overrules(cls, recipe: Recipe) -> dict[str, str]:
        other = f"plan.kind other than {recipe.plan.kind}, "
        far = not cls.takes_best or recipe.data == "weblinx"  # where the ranking itself is judged
        replies = "a planner whose replies are drawn"
        looped = cls.repeats or recipe.quirks.wq22_imagines_every_sample or values_by_loop(recipe)
        return (
            unless(cls.ranking(recipe) is None, f"{other}which ranks by itself", "rank.kind")
            | unless(far, f"{other}which takes the best element alone", "rank.top_k")
            | unless(not cls.acts_often, f"{other}whose later actions would be held by nobody", "act.guard")
            | unless(cls.repeats, replies, *OF_REPLIES)
            | unless(looped, replies, "imagine.loop")
        )

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        """The kinds of `simplify` and `compose` that go with it."""
        return ()

    @classmethod
    def learns_prompts(cls) -> bool:
        """Whether models for it are trained on the whole prompts that it asks, with what `right_answer` gives: not on
        groups of elements that are drawn anew, nor on recorded turns."""
        return cls.asks and cls.form is None and not cls.of_turns

    @classmethod
    def right_answer(cls, recipe: Recipe, step: RecordedStep, decision: Decision) -> str:
        """What a model that is trained for it answers to the prompt of a recorded step; "" leaves the step out.
        `decision`: how the step was prompted, with its ranking and trace, and without an answer."""
        return ""

    @classmethod
    def ranking(cls, recipe: Recipe) -> type[StageKind] | None:
        """The kind of `rank` that comes with the planner, where its network scores the elements too."""
        return None


def compared_by(recipe: Recipe) -> str:
    """The setting by which several actions of the planner are compared, "" for none."""
    chosen = {"imagine.kind": recipe.imagine.kind, "act.ask": recipe.act.ask}
    return next((f"{name}={value}" for name, value in chosen.items() if value != "none"), "")


class AskingPlanner(Planning):
    """A kind of `plan` that asks a model, with all prompts of a batch at once."""

    asks = True
    reads = MODEL_SETTINGS

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.generator = generator_of(parts)
        self.sampling = sampling_of(parts)

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        here = beside.recipe.plan.backend == "local"
        counts = base_counts(beside.recipe, "plan", "train_planner")
        return super().idle(beside) | counts | unless(here, "plan.backend=local", "plan.base")

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        plan = recipe.plan
        by = f"Runs {_weights_words(recipe)} here."
        if plan.backend == "endpoint":
            by = f"Asked of {plan.model or 'the configured LLM'} over an endpoint."
        return f"{cls.answers(recipe)} {by}{_drawn_words(recipe) if plan.temperature else ''}"

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        """What the model answers, as a sentence."""
        return super().sentence(recipe)

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        plan, trainer = recipe.plan, trainer_of("train_planner", "plan.base", recipe)
        if plan.backend != "local" or recipe.needs:
            return []
        return lacking_model("plan.model", plan.model, plan.base, trainer)

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return recipe.plan.backend == "endpoint"

    def generate(self, states: Sequence[StepState]) -> list[tuple[StepState, Generated]]:
        """The states with a prompt, each with the model's answer."""
        asked = [(state, state.prompt) for state in states if state.prompt is not None]
        prompts: list[PlannerPrompt] = [prompt for _, prompt in asked]
        # nothing is compared of what would be done on pages that are imagined: one reply is enough
        imagined = [replace(self.sampling, n=1)] if all(state.observation.is_imagined for state in states) else []
        answers = self.generator.generate(prompts, *imagined) if prompts else []
        found = [(state, generated) for (state, _), generated in zip(asked, answers, strict=True)]
        for state, generated in found:
            state.usage += generated.usage
            if generated.model:
                state.note("plan", answered_by=generated.model)
            if self.sampling.temperature:
                self._note_drawn(state, generated)
        return found

    def _note_drawn(self, state: StepState, generated: Generated) -> None:
        """Note how samples were drawn and in how many requests: more than one where an endpoint gives fewer samples at
        once."""
        asked = asdict(self.sampling) | {"requests": generated.usage.calls}
        state.note("plan", sampling=asked, samples=list(generated.texts))


def _weights_words(recipe: Recipe) -> str:
    plan = recipe.plan
    return plan.model or (f"weights to be trained from {plan.base}" if plan.base else "weights that are not chosen yet")


def _drawn_words(recipe: Recipe) -> str:
    plan = recipe.plan
    replies = "a reply" if plan.samples == 1 else f"{plan.samples} replies of each prompt"
    of = f", of the likeliest tokens with {plan.top_p:.0%} together" if plan.top_p < 1 else ""
    return f" Draws {replies} at temperature {plan.temperature:g}{of}."
