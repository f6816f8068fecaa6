"""`plan.kind` multichoice and generation: MindAct's and Self-MAP's planners. Core.

All steps of a batch play their rounds side by side, so that the model always answers many prompts at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from agents.recipes.literature import Recipe
from agents.recipes.settings import RecallSettings
from agents.stages.compose.pages import LetteredPages, PagesInTurn, note_sent
from agents.stages.kind import SEEDS, Beside, Parts, StageKind
from agents.stages.known import has_memory, has_past, is_counted
from agents.stages.models import idle_elsewhere
from agents.stages.plan.kinds import MODEL_SETTINGS, REPAIRED, AskingPlanner, PublishedJudging
from agents.stages.simplify.groups import ElementGroups, LetteredGroups, Match, shown_rationales
from agents.stages.state import StepState
from agents.types import Action
from agents.words.generator import Generated
from agents.words.parse import ParsedReply, ParseQuirks, parse_generation, parse_multichoice
from agents.words.shown_page import BY_LETTER, IN_FULL, AnswerForm

ANSWER = "Answer: "  # the examples that MindAct shows to language models have it before the letter


class MultipleChoice(AskingPlanner):
    """The model answers with the letter of an element, the operation and the value."""

    reads = MODEL_SETTINGS | {
        "plan.constrained",
        "quirks.q6_overlooks_last_skipped",
        "quirks.q8_empty_reply_crashes",
        "quirks.q9_option_before_a_wraps",
        "quirks.q25_punctuation_counts",
        "quirks.click_value_counts",
        "quirks.q27_fails_unasked",
    }
    fails_unasked = True
    judging = PublishedJudging(keeps_punctuation=True)
    form: ClassVar[AnswerForm] = BY_LETTER
    parse = staticmethod(parse_multichoice)

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.quirks = self.recipe.quirks.narrowed(ParseQuirks)
        self.labelled = self.recipe.plan.backend == "endpoint"

    @classmethod
    def judged(cls, recipe: Recipe) -> PublishedJudging:
        return replace(cls.judging, overlooks_tail=recipe.quirks.q6_overlooks_last_skipped)

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        return super().idle(beside) | idle_elsewhere(beside.recipe, "plan.constrained")

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        count = recipe.simplify.group_size
        return f"Chooses by letter among {count} elements at a time; winners meet again until one is left."

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return LetteredGroups, LetteredPages

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        recall, compose = recipe.recall, recipe.compose
        return "seq2seq", {
            "paradigm": recipe.plan.kind,
            "num_candidates": recipe.simplify.group_size,
            "max_length": compose.max_tokens,
            "max_new_tokens": recipe.plan.max_new_tokens,
            "layout": compose.layout,
            "memory": recall.memory if has_memory(recipe) else "none",
            "memory_k": recall.k if has_memory(recipe) and is_counted(recall.memory) else RecallSettings().k,
            "simplification": has_past(recipe) and recipe.simplify.memory_pages == "simplified",
            "refinement": shown_rationales(recipe) != "none",
        }

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        skipped = (
            "Where every step of a split is skipped, faithful scores are zeros; the published aggregation stops with "
            "an error (Q6)."
        )
        drawn = (
            "A model that is trained here sees recalled steps as published trainings do: with candidates drawn anew, "
            "and a share of them without the gold element, answered by None (Q5). A run shows them as it recalls them."
        )
        asked = (
            "Rationales that a training finds missing are asked for with the gold element alone on the page; a run "
            "asks with the candidates of the prompt beside it, by which elements are numbered."
        )
        trained = has_past(recipe) and recipe.plan.backend == "local"
        told = {"training-memory": drawn} if trained else {}
        told |= {"training-rationales": asked} if trained and shown_rationales(recipe) == "model" else {}
        return SEEDS | REPAIRED | {"all-skipped": skipped} | told

    def run(self, states: Sequence[StepState]) -> None:
        for state, generated in self.generate(states):
            self._read(state, state.shown, generated)
        for state in states:
            match: Match = state.shown
            if state.open and match.group is None:
                winner = match.winner
                state.close(action_of(winner) if winner else None)
                self._note(state, match)

    def _read(self, state: StepState, match: Match, generated: Generated) -> None:
        assert match.page is not None
        text = generated.text.strip().removeprefix(ANSWER) if self.labelled else generated.text
        drawn = {"samples": list(generated.texts)} if generated.others else {}
        match.asked.append({"elements": list(match.group or ()), "reply": generated.text, **drawn})
        self._note(state, match)
        if generated.sent:
            note_sent(state, match, generated.sent)
        if generated.error:
            state.fail(generated.error)
            return
        try:
            reply = self.parse(text, match.page.choices, self.quirks)
        except (IndexError, ValueError) as error:
            state.fail(f"the reply {generated.text[:80]!r} cannot be read: {error}")
            return
        match.asked[-1]["chosen"] = reply.element
        match.advance(reply)

    def _note(self, state: StepState, match: Match) -> None:
        last = {"reply": match.asked[-1]["reply"]} if match.asked else {}
        state.note("plan", kind=self.recipe.plan.kind, rounds=match.asked, **last)


class Generation(MultipleChoice):
    """The model writes element, operation and value in full."""

    reads = MODEL_SETTINGS | {
        "plan.constrained",
        "quirks.q6_overlooks_last_skipped",
        "quirks.q10_unreadable_picks_first",
        "quirks.click_value_counts",
        "quirks.q27_fails_unasked",
    }
    judging = PublishedJudging()
    form: ClassVar[AnswerForm] = IN_FULL

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        return "Writes element, action and value in full."

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return ElementGroups, PagesInTurn

    parse = staticmethod(parse_generation)


def action_of(reply: ParsedReply) -> Action | None:
    """The action of a reply "OP value" on an element; None where it chose no element."""
    if reply.element is None:
        return None
    operation, _, value = reply.action.partition(" ")
    return Action(operation, reply.element, value.strip())
