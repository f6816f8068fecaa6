"""`simplify` of Synapse, AWM and MIMS: every page as text around its best elements. Core."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agents.recipes.literature import Recipe
from agents.stages.kind import RECALLED, SEEN, Beside, Parts, StageKind, unless
from agents.stages.known import has_memory
from agents.stages.state import StepState
from agents.types import RecordedStep
from agents.words.past_step import PastStep, RationaleRequest
from agents.words.trajectory import ShownStep
from agents.words.trajectory_page import page_text
from annotations.dom.limits import PageError


@dataclass(frozen=True)
class ShownPages:
    """The current page and the past ones as texts."""

    elements: list[str]
    page: str
    history: list[ShownStep]  # of this turn
    exemplars: list[list[ShownStep]]
    memory: list[ShownStep]  # of earlier turns
    rationales: list[str | None]  # of `memory`, why each action was right


class AroundBest(StageKind):
    """The current page around its best elements; past pages around the element that was acted on and the best
    others."""

    stage = "simplify"
    reads = frozenset({"simplify.page_elements", "simplify.history_elements", "recall.rationales"})

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        past = beside.recipe.compose.trajectory or bool(beside.blocks & {"memory", "exemplars"})
        return (
            unless(beside.sees_text, SEEN, "simplify.page_elements")
            | unless(past, "compose.trajectory=true, recalled steps or exemplars", "simplify.history_elements")
            | unless("memory" in beside.blocks, RECALLED, "recall.rationales")
        )

    @classmethod
    def sentence(cls, recipe: Recipe) -> str:
        shown = recipe.simplify
        return (
            f"Shows {shown.page_elements} elements of the current page and {shown.history_elements} of earlier ones, "
            "each with its surroundings."
        )

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return f"{recipe.simplify.page_elements} elements with their surroundings"

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.past = parts.past_pages()

    @classmethod
    def texts(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"rationale"} if cls.asks_llm(recipe) else ())

    @classmethod
    def asks_llm(cls, recipe: Recipe) -> bool:
        return recipe.recall.rationales == "model" and has_memory(recipe)

    def run(self, states: Sequence[StepState]) -> None:
        past = self.past.show(step for state in states for step in _past(state))
        reasons = self._rationales(states)
        for state in states:
            try:
                state.shown = self._pages(state, past, reasons)
                state.note("simplify", elements=state.shown.elements)
            except (PageError, IndexError, ValueError) as error:
                state.fail(f"a page of the prompt cannot be shown: {error}")

    def _rationales(self, states: Sequence[StepState]) -> dict[int, str]:
        """Step -> its rationale, for the recalled steps of a batch. What nobody has written is asked for, where the
        recipe says so."""
        settings, writer = self.recipe.recall.rationales, self.parts.writer
        steps = {step.observation.key: step for state in states for step in state.memory}
        found = {key: step.rationale for key, step in steps.items() if step.rationale}
        if settings == "none":
            return {}
        if settings == "stored" or writer is None:
            return found
        asked = []
        for key, step in steps.items():
            if key not in found:
                with suppress(ValueError):  # its page cannot be shown
                    asked.append(rationale_request(step))
        for key, (text, used) in writer.write(asked).items():
            found[key] = text
            payer = next(state for state in states if any(step.observation.key == key for step in state.memory))
            payer.usage += used
        return found

    def _pages(
        self, state: StepState, past: Mapping[int, ShownStep | Exception], reasons: Mapping[int, str]
    ) -> ShownPages:
        count, leaks = self.recipe.simplify.page_elements, self.recipe.quirks.q18_gold_in_top_k
        elements = state.page_ids(count, with_gold=leaks) if state.sees_text else []
        page = page_text(state.observation.root, elements) if state.sees_text else ""
        history = [_shown(step, past) for step in state.observation.turn_steps]
        exemplars = [[_shown(step, past) for step in exemplar.steps] for exemplar in state.exemplars]
        memory = [_shown(step, past) for step in state.memory]
        rationales = [reasons.get(step.observation.key) for step in state.memory]
        return ShownPages(elements, page, history, exemplars, memory, rationales)


def _shown(step: RecordedStep, past: Mapping[int, ShownStep | Exception]) -> ShownStep:
    found = past[step.observation.key]
    if isinstance(found, Exception):
        raise found
    return found


def _past(state: StepState) -> list[RecordedStep]:
    exemplars = [step for exemplar in state.exemplars for step in exemplar.steps]
    return [*state.memory, *state.observation.turn_steps, *exemplars]


def rationale_request(step: RecordedStep) -> RationaleRequest:
    """The request for a past step's rationale. ValueError where no gold element is known, or its page cannot be
    shown."""
    if not step.positive_ids:
        raise ValueError("no gold element is on it")
    past, gold = PastStep.of(step), step.positive_ids[0]
    try:
        page = page_text(past.root, [gold])
    except IndexError as error:
        raise ValueError("the gold element is not on it") from error
    value = "" if step.action.operation == "CLICK" else f"\nValue: {step.action.value}"
    return RationaleRequest(past, gold, page, f"Action: {step.action.operation}{value}")
