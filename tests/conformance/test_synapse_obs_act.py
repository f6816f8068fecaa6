"""Synapse's view of a step: target, best candidates and the action text, targets lost in cleaning included."""

import pytest

from agents.words.past_step import PastStep
from agents.words.trajectory_page import observation, observed_ids, target_act, target_observation
from annotations.dom.tree import NODE_ID, parse
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


def gold_step(action, action_repr=""):
    """A step of the cases' Mind2Web records."""

    def ranked(kind):
        return tuple((candidate["backend_node_id"], candidate["rank"]) for candidate in action[f"{kind}_candidates"])

    marked = [
        node.get(NODE_ID)
        for node in parse(action["raw_html"]).iter("*")
        if node.get("data_pw_testid_buckeye") == action["action_uid"]
    ]
    return PastStep(
        key=0,
        turn_index=0,
        step_index=0,
        instruction="",
        action_repr=action_repr,
        operation=action["operation"]["op"],
        value=action["operation"]["value"],
        html=action["cleaned_html"],
        positive_ids=tuple(node_id for node_id, _ in ranked("pos")),
        negatives=ranked("neg"),
        raw_html=action["raw_html"],
        raw_target_id=marked[0] if marked else "",
    )


@pytest.mark.parametrize("case", params("synapse_obs_act"))
def test_observations_and_action_agree_with_the_published_code(case):
    step = gold_step(case["step"])
    with crash_of(case) as crashes:
        target = target_observation(step), target_act(step)
    if crashes:
        return
    assert target == (case["target_obs"], case["target_act"])
    assert observed_ids(step, case["top_k"]) == case["top_k_ids"]
    assert observation(step, case["top_k"]) == case["top_k_obs"]
