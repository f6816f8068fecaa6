"""A whole published planner evaluation with scripted model outputs: loop, parsing, scoring, aggregation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from agents.words.parse import CORRECTED, FAITHFUL, ParsedReply, ParseQuirks, parse_generation, parse_multichoice
from agents.words.shown_page import IN_FULL, AnswerForm, PageTask, format_input
from annotations.dom.tree import parse
from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.outcomes import StepOutcome
from evaluation.metrics.step import step_success
from tests.agents.knocked_out import knock_out
from tests.conformance.results import assert_published_result

PARSERS: dict[str, Callable[..., ParsedReply]] = {"multichoice": parse_multichoice, "generation": parse_generation}


@dataclass
class Evaluation:
    """Evaluates the conversations of one case; keeps what the published code wrote down."""

    case: dict
    form: AnswerForm
    quirks: ParseQuirks
    groups: list[list[str]] = field(default_factory=list)
    predictions: list[list[str]] = field(default_factory=list)
    outcomes: list[StepOutcome] = field(default_factory=list)

    def run(self) -> "Evaluation":
        self.outputs: Iterator[str] = iter(self.case["model_outputs_in_order"])
        for conversation in self.case["conversations"]:
            for turn in conversation["turns"]:
                for index, action in enumerate(turn["actions"]):
                    self._step(conversation, turn, action, turn["action_reprs"][:index])
        return self

    def _step(self, conversation: dict, turn: dict, action: dict, previous: list[str]) -> None:
        positives, negatives = self._ranked(action["pos_candidates"]), self._ranked(action["neg_candidates"])
        final, element, f1 = None, 0.0, 0.0
        if positives:
            page = parse(action["cleaned_html"])
            task = PageTask(turn["confirmed_task"], previous, action["operation"]["op"], action["operation"]["value"])

            def ask(group: list[str]) -> ParsedReply:
                self.groups.append(group)
                return self._read(next(self.outputs, ""), format_input(page, group, task, self.form).choices)

            gold = format_input(page, positives[:1], task, self.form, gold_id=positives[0])
            final = knock_out([*positives, *negatives], ask)
            if final is not None:
                element = element_accuracy(final.element, positives)
                label = self._read(gold.target, gold.choices).action
                f1 = operation_f1(final.action, label, strip_punctuation=self.form is IN_FULL)
        sample = f"{turn['annotation_id']}_{action['action_uid']}"
        self.predictions.append([sample, final.element, final.action] if final else [sample, "", ""])
        self.outcomes.append(
            StepOutcome(
                conversation["task_id"],
                turn["annotation_id"],
                conversation["website"],
                element,
                f1,
                step_success(element, f1),
                skipped=not positives,
                position=len(self.outcomes),
            )
        )

    def _ranked(self, candidates: list[dict]) -> list[str]:
        return [item["backend_node_id"] for item in candidates if item["rank"] < self.case["top_k"]]

    def _read(self, text: str, choices: tuple[tuple[str, str], ...]) -> ParsedReply:
        return PARSERS[self.form.name](text, choices, self.quirks)


def assert_published_evaluation(case: dict, form: AnswerForm) -> None:
    """Groups, predictions and aggregates equal the case's; where the published code crashed, so does `faithful`."""
    error = case["error"]
    if error is not None and not error.startswith("UnboundLocalError"):
        with pytest.raises((IndexError, ValueError)) as raised:
            Evaluation(case, form, FAITHFUL).run()
        assert error.startswith(raised.type.__name__)
        judged = Evaluation(case, form, CORRECTED).run().outcomes
        assert len(judged) == sum(len(turn["actions"]) for item in case["conversations"] for turn in item["turns"])
        return
    evaluation = Evaluation(case, form, FAITHFUL).run()
    assert evaluation.groups == case["candidate_groups_in_order"]
    if case["predictions"] is not None:
        assert evaluation.predictions == case["predictions"]
    assert evaluation.outcomes[-1].skipped == case["last_row_skipped"]
    assert_published_result(evaluation.outcomes, case["result"], error)
