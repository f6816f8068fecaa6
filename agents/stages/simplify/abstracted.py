"""`simplify` of Synapse on MiniWoB++: a model, or a program that it writes, makes a short text of the page. Core."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from agents.llm.protocol import GREEDY
from agents.recipes.literature import Recipe
from agents.stages.answering import generator_of
from agents.stages.kind import SEEN, Beside, Parts, StageKind, unless
from agents.stages.state import StepState
from agents.words.exemplar_sets import (
    FilterCall,
    PromptType,
    abstracting,
    abstracts,
    programs_before,
    prompt_type,
)
from agents.words.generator import ChatPrompt
from agents.words.markup import markup_of
from annotations.dom.limits import PageError

TRACED = 40_000  # characters of the page that a trace keeps, which later programs of the episode are shown

Abstracting = Generator[FilterCall, str, str]

SETS = "recall.exemplars=voted or own"


@dataclass(frozen=True)
class AbstractedPage:
    """The text shown of a page, and the form of the prompt; None without an exemplar set."""

    text: str
    form: PromptType | None


class Abstracted(StageKind):
    """The page's own HTML, or a text made of it by a model or by a program that it writes."""

    stage = "simplify"
    reads = frozenset({"simplify.abstraction", "quirks.q16_missing_fallback_crashes"})
    takes = frozenset({"exemplar_set"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        shown = "exemplar_set" in beside.blocks and beside.sees_text
        writes = shown and beside.recipe.simplify.abstraction == "program"
        seen = SETS if beside.sees_text else SEEN
        return unless(shown, seen, "simplify.abstraction") | unless(
            writes, f"{seen} and simplify.abstraction=program", "quirks.q16_missing_fallback_crashes"
        )

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.generator = generator_of(parts)

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        return {
            "none": "Shows the page's own HTML.",
            "words": "Where the exemplar set shows how, a model says in its words what of the page matters.",
            "program": "Where the exemplar set shows how, a model says what of the page matters, or writes a program "
            "that finds it.",
        }[recipe.simplify.abstraction]

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "the page" if recipe.simplify.abstraction == "none" else "what matters of the page"

    def run(self, states: Sequence[StepState]) -> None:
        asked: list[tuple[StepState, Abstracting]] = []
        for state in states:
            try:
                asked.append((state, self._abstracting(state)))
            except (PageError, ValueError) as error:
                state.fail(f"the page cannot be shown: {error}")
        waiting = [(state, one, call) for state, one in asked if (call := self._go_on(state, one, None))]
        while waiting:  # each state's next call, all of them together
            prompts = [ChatPrompt(call.messages, call.stop) for _, _, call in waiting]
            replies = self.generator.generate(prompts, GREEDY)
            went_on = []
            for (state, one, call), reply in zip(waiting, replies, strict=True):
                state.usage += reply.usage
                self._trace(state, call, reply.text)
                if reply.error:
                    state.fail(reply.error)
                elif following := self._go_on(state, one, reply.text):
                    went_on.append((state, one, following))
            waiting = went_on

    def _abstracting(self, state: StepState) -> Abstracting:
        """Begin to make the text of a state's page. ValueError where the page as it is would be too long."""
        exemplar, page = state.exemplar_set, markup_of(state.observation)
        abstraction = self.recipe.simplify.abstraction if state.sees_text else "none"
        if exemplar is None:
            state.shown = AbstractedPage("", None)
            return _as_it_is(page)
        form = prompt_type(exemplar, abstracts(state.observation.website, abstraction))
        state.shown = AbstractedPage("", form)
        return abstracting(
            exemplar,
            form,
            (state.instruction, page),
            len(programs_before(state.observation)),
            programs=abstraction == "program",
            crashes=self.recipe.quirks.q16_missing_fallback_crashes,
        )

    @staticmethod
    def _go_on(state: StepState, one: Abstracting, reply: str | None) -> FilterCall | None:
        """The model's next question about the page; None where its text is ready, or cannot be made."""
        try:
            return next(one) if reply is None else one.send(reply)
        except StopIteration as done:
            state.shown = AbstractedPage(done.value, state.shown.form)
            state.note("simplify", form=state.shown.form, page=done.value[:TRACED])
        except KeyError as error:
            state.fail(f"the exemplar set has no {error.args[0]} for when its program fails (Q16)")
        return None

    @staticmethod
    def _trace(state: StepState, call: FilterCall, reply: str) -> None:
        before = state.trace.get("simplify", {}).get("asked", [])
        told = {"prompt": call.messages[-1].content[-TRACED:], "reply": reply}
        state.note("simplify", asked=[*before, told])


def _as_it_is(page: str) -> Abstracting:
    return page
    yield  # a generator that asks nothing
