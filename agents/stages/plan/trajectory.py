"""`plan.kind=trajectory`: Synapse, AWM and MIMS continue the trajectory with the next action. Core."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.recipes.literature import Recipe
from agents.stages.compose.trajectories import Trajectories
from agents.stages.kind import SEEN, Beside, StageKind, unless
from agents.stages.plan.kinds import MODEL_SETTINGS, REPAIRED, AskingPlanner, PublishedJudging
from agents.stages.simplify.around import AroundBest
from agents.stages.state import StepState
from agents.types import Action, Decision, RecordedStep
from agents.words.trajectory import answer
from agents.words.trajectory_page import act_text
from agents.words.trajectory_parse import bare_act, in_backticks, parse_act


class NextAction(AskingPlanner):
    """One reply: the first action in backticks."""

    reads = MODEL_SETTINGS | {
        "rank.top_k",
        "quirks.q18_gold_in_top_k",
        "quirks.q19_first_positive_only",
        "quirks.q20_exact_string_success",
        "quirks.q27_fails_unasked",
    }
    fails_unasked = draws = True
    judging = PublishedJudging(by_text=True)

    @classmethod
    def judged(cls, recipe: Recipe) -> PublishedJudging:
        """The published code for models of one's own (CodeLlama) compares what it read, the one for endpoints texts."""
        return replace(cls.judging, by_parts=recipe.plan.backend == "local")

    @classmethod
    def idle(cls, beside: Beside) -> dict[str, str]:
        quirks, turns = beside.recipe.quirks, beside.recipe.data == "weblinx"
        return (
            super().idle(beside)
            | unless(quirks.q27_fails_unasked or turns, "quirks.q27_fails_unasked=true", "rank.top_k")
            | unless(beside.sees_text, SEEN, "quirks.q18_gold_in_top_k")
        )

    @classmethod
    def answers(cls, recipe: Recipe) -> str:
        return "Continues a trajectory of observations with the next action."

    @classmethod
    def before(cls) -> tuple[type[StageKind], ...]:
        return AroundBest, Trajectories

    @classmethod
    def training(cls, recipe: Recipe) -> tuple[str, dict[str, Any]]:
        return "causal", {
            "paradigm": recipe.plan.kind,
            "max_length": recipe.compose.max_tokens,
            "max_new_tokens": recipe.plan.max_new_tokens,
        }

    @classmethod
    def right_answer(cls, recipe: Recipe, step: RecordedStep, decision: Decision) -> str:
        """The gold action on the first gold element that is shown, as exemplars write it; "" where none is shown."""
        shown = decision.trace["simplify"]["elements"]
        gold = next((node_id for node_id in step.positive_ids if node_id in shown), None)
        if gold is None:
            return ""
        act = act_text(step.action.operation, gold, step.action.value)
        return answer(act, step.action.representation, recipe.compose.trajectory)

    @classmethod
    def deviations(cls, recipe: Recipe) -> dict[str, str]:
        template = (
            "A model that runs here reads its prompt in the chat template of its tokenizer; the published code puts "
            "the messages for CodeLlama between [INST] marks on lines of their own, whatever the model."
        )
        lost = (
            "Where cleaning lost the target of an earlier step and the data hold no page as recorded, its action names "
            "the element and its page does not show it; the published code reads recorded pages for all of them."
        )
        local = {"chat-template": template} if recipe.plan.backend == "local" else {}
        return REPAIRED | local | {"lost-targets": lost}

    def run(self, states: Sequence[StepState]) -> None:
        for state, generated in self.generate(states):
            text = self._act(generated.text)
            state.note("plan", kind=self.recipe.plan.kind, reply=generated.text, text=text)
            if generated.error:
                state.fail(generated.error)
            else:
                state.written = tuple(self._act(sample) for sample in generated.texts)
                state.drawn = tuple(_action(written) for written in state.written)
                state.close(state.drawn[0])

    def _act(self, reply: str) -> str:
        text = in_backticks(reply)
        return bare_act(reply) if not text and not self.recipe.compose.trajectory else text


def _action(text: str) -> Action | None:
    act = parse_act(text)
    return None if act.node_id is None else Action(act.operation or "", act.node_id, act.value or "")
