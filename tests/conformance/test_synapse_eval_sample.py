"""A whole task of Synapse's Mind2Web evaluation with scripted replies: prompts, skipped steps and scores."""

import pytest

from agents.llm.protocol import Message
from agents.prompts.packs import webnav
from agents.words.trajectory import abstraction_query, act_query, chat_tokens, fit, naive_demos, shown
from agents.words.trajectory_page import observation, target_act
from agents.words.trajectory_parse import in_backticks
from evaluation.metrics.trajectory import FAILED, score_act
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of
from tests.conformance.test_synapse_obs_act import gold_step

TOP_K = 5  # elements of the current page; without a positive among them nothing is asked
# The token limit of the cases counts the published system message, which has other words than ours: 338 characters lie
# within the lengths (264 to 394) that agree with all of them.
SYSTEM = Message("system", "s" * 338)


class Evaluation:
    """The loop over the steps of a task."""

    def __init__(self, case):
        sample = case["sample"]
        self.case = case
        self.task, self.action_reprs = sample["confirmed_task"], sample["action_reprs"]
        self.steps = [gold_step(*pair) for pair in zip(sample["actions"], self.action_reprs, strict=True)]
        self.exemplars = [
            [Message(**message) for message in exemplar] for exemplar in case["exemplars_in_retrieval_order"] or ()
        ]
        self.replies = iter(case["responses_in_order"])
        self.asked, self.kinds = [], []

    def prompt(self, index):
        current = observation(self.steps[index], TOP_K)
        if self.case["no_trajectory"]:
            query, examples = abstraction_query(self.task, self.action_reprs[:index], current), naive_demos(webnav())
        else:
            query = act_query(self.task, [shown(step) for step in self.steps[:index]], current)
            examples = self.exemplars
        return fit(SYSTEM, examples, query, lambda messages: chat_tokens(messages, len), self.case["max_tokens_toy"])

    def score(self, index):
        step = self.steps[index]
        if all(candidate["rank"] >= TOP_K for candidate in self.case["sample"]["actions"][index]["pos_candidates"]):
            self.kinds.append("str")
            return FAILED
        messages = self.prompt(index)
        if messages is None:
            self.kinds.append("input,output")
            return FAILED
        self.kinds += ["input,output,token_stats", "pred_act,target_act"]
        self.asked.append(messages[-1:] if self.case["no_trajectory"] else messages[1:])
        return score_act(in_backticks(next(self.replies)), target_act(step), step.positive_ids)


@pytest.mark.parametrize("case", params("synapse_eval_sample"))
def test_prompts_and_scores_agree_with_the_published_evaluation(case):
    evaluation = Evaluation(case)
    with crash_of(case) as crashes:
        scores = [evaluation.score(index) for index in range(len(evaluation.steps))]
    if crashes:
        return
    asked = [[{"role": message.role, "content": message.content} for message in call] for call in evaluation.asked]
    assert asked == case["messages"]
    assert [score.element_accuracy for score in scores] == case["metrics"]["element_acc"]
    assert [score.operation_f1 for score in scores] == pytest.approx(case["metrics"]["action_f1"], abs=1e-9)
    assert [score.success for score in scores] == case["metrics"]["step_success"]
    assert [all(score.success for score in scores)] == case["metrics"]["success"]
    assert [*evaluation.kinds, "action_f1,element_acc,step_success,success"] == case["conversation_kinds"]
    assert next(evaluation.replies, None) is None
