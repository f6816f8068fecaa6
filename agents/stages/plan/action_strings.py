"""`plan.kind=action_string`: WebLINX's action model answers in the grammar of sources.md A6. Core."""

from collections.abc import Sequence
from typing import Any

from agents.recipes.literature import Recipe
from agents.stages.compose.action_strings import RecordedTurns, note_read
from agents.stages.kind import Beside, Parts, StageKind, unless
from agents.stages.plan.kinds import MODEL_SETTINGS, AskingPlanner
from agents.stages.state import StepState
from agents.types import Action
from agents.weblinx.parse import ParsedAction, cast_coordinates, parse_action, predicted_element
from agents.weblinx.quirks import WeblinxQuirks
from agents.weblinx.turns import UNKNOWN
from agents.words.generator import Generated
from annotations.datasets.weblinx import turns as recorded_turns
from annotations.dom.weblinx_page import UID

OPERATIONS = {intent.lower(): operation for intent, operation in recorded_turns.OPERATIONS.items()} | {"say": "SAY"}
VALUES = {"textinput": ("text", "value"), "change": ("value",), "load": ("url",), "say": ("utterance",)}


class ActionString(AskingPlanner):
    """One reply: an action string."""

    needs_ranking = False  # its prompt may have no elements
    draws = of_turns = True
    reads = MODEL_SETTINGS | {"rank.top_k", "quirks.wq2_numbers_lose_quotes", "quirks.wq4_corners_find_nothing"}

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.quirks = self.recipe.quirks.narrowed(WeblinxQuirks)

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        ranks = beside.recipe.rank.kind != "none"
        return super().idle(beside) | unless(ranks, "rank.kind other than none", "rank.top_k")

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        return "Writes one action string in WebLINX's grammar."

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        said = f"plan.kind={recipe.plan.kind} does not go with {recipe.name}, which reads no recorded WebLINX turns"
        return said if recipe.data != "weblinx" else ""

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return (RecordedTurns,)

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "seq2seq", {
            "paradigm": recipe.plan.kind,
            "max_length": recipe.compose.max_tokens,
            "max_new_tokens": recipe.plan.max_new_tokens,
            "history_turns": recipe.compose.history_turns,
        } | ({"ranker": recipe.rank.model} if recipe.rank.model else {})

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        return {
            "empty-budgets": "Where the published WebLINX formatter stops because a budget is far below its defaults, "
            "the part is cut to nothing."
        }

    def run(self, states: Sequence[StepState]) -> None:
        for state, generated in self.generate(states):
            self._read(state, generated)
        for state in states:
            if state.open:
                why = "not among the turns that models are asked about"
                why = why if state.observation.demo else "no recorded turns"
                state.note("plan", kind=self.recipe.plan.kind, left_out=why)
                state.close(None)

    def _read(self, state: StepState, generated: Generated) -> None:
        parsed, *others = (parse_action(text, self.quirks) for text in (generated.text, *generated.others))
        note_read(state, generated)
        state.note("plan", kind=self.recipe.plan.kind, reply=generated.text, intent=parsed.intent)
        if generated.error:
            state.fail(generated.error)
        else:
            state.drawn = tuple(self._action(state, one) for one in (parsed, *others))
            state.close(state.drawn[0])

    def _action(self, state: StepState, parsed: ParsedAction) -> Action | None:
        if parsed.intent == UNKNOWN:
            return None
        demo = state.observation.demo
        operation = OPERATIONS.get(parsed.intent)
        if demo is None or operation is None:
            return None
        args = cast_coordinates(parsed.args)
        turn = demo.turns[state.observation.demo_turn]
        element = predicted_element(parsed.intent, args, demo, turn, self.quirks)
        value = next((str(args[key]) for key in VALUES.get(parsed.intent, ()) if args.get(key) is not None), "")
        return Action(operation, element["attributes"][UID] if element else None, value)
