"""Memory snippets of a whole conversation, in every combination of form, simplification and refinement."""

import pytest

from agents.stages.simplify.snippets import SnippetSettings, snippet_messages
from agents.words.past_step import PastStep
from agents.words.sequence import PagePart
from agents.words.shown_page import BY_LETTER, IN_FULL, PageWording
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of

PLACEHOLDERS = PageWording(
    header="{HEADER}", question_generation="{QUESTION_GEN}", question_multichoice="{QUESTION_MCQ}"
)


class FirstOnly:
    """Random choices neutralised as in the cases."""

    def choice(self, seq):
        return seq[0]

    def sample(self, population, k):
        return population[:k]


def shown(request):
    gold = -1 if request.gold_id is None else request.gold_id
    return f"<<R gt={gold} tree={request.page} target={request.answer!r}>>"


def past_steps(conversation, current_uid):
    for turn_index, turn in enumerate(conversation["turns"]):
        if any(action["action_uid"] == current_uid for action in turn["actions"]):
            return
        for index, action in enumerate(turn["actions"]):
            yield PastStep(
                key=0,
                turn_index=turn_index,
                step_index=index,
                instruction=turn["confirmed_task"],
                action_repr=turn["action_reprs"][index],
                operation=action["operation"]["op"],
                value=action["operation"]["value"],
                html=action["cleaned_html"],
                positive_ids=tuple(candidate["backend_node_id"] for candidate in action["pos_candidates"]),
                negatives=tuple((item["backend_node_id"], item["rank"]) for item in action["neg_candidates"]),
                past_actions=tuple(turn["action_reprs"][:index]),
            )


@pytest.mark.parametrize("case", params("history_messages"))
def test_snippets_agree_with_the_published_code(case):
    switches = case["self_map"]
    settings = SnippetSettings(
        form=IN_FULL if switches["generation"] else BY_LETTER,
        simplification=switches["memory_simplification"],
        refinement=switches["memory_refinement"],
        top_k=case["top_k"],
        wording=PLACEHOLDERS,
    )
    steps = past_steps(case["conversation"], case["current_action_uid"])
    with crash_of(case) as crashes:
        messages = snippet_messages(steps, FirstOnly(), settings, shown)
    assert crashes or messages == [PagePart(message["from"], message["value"]) for message in case["history"]]
