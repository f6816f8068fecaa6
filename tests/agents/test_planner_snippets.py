"""Memory snippets: which candidates they show, and how rationales are joined to answers."""

import random

import pytest

from agents.stages.simplify.snippets import CORRECTED, FAITHFUL, SnippetSettings, draw_candidates, snippet_messages
from agents.words.past_step import PastStep
from agents.words.shown_page import BY_LETTER, OURS

PAGE = (
    '<html backend_node_id="1"><select backend_node_id="2" name="size"><text>Small</text></select>'
    '<button backend_node_id="3"><text>Buy</text></button><a backend_node_id="4"><text>Help</text></a></html>'
)


def past_step(**fields):
    values = {
        "key": 7,
        "turn_index": 0,
        "step_index": 1,
        "instruction": "Buy a small shirt",
        "action_repr": "[button] Buy",
        "operation": "SELECT",
        "value": "Small",
        "html": PAGE,
        "positive_ids": ("2",),
        "negatives": (("3", 0), ("4", 60)),
        "past_actions": ("[link]  Shirts -> CLICK",),
        "rationale": "They said so.",
    }
    return PastStep(**values | fields)


def answer(step, **settings):
    page, question, reply = snippet_messages([step], random.Random(0), SnippetSettings(**settings))
    assert (page.sender, question.sender, reply.sender) == ("webpage", "human", "gpt")
    assert "Previous actions" not in question.text
    return reply.text


def test_q14_no_line_break_follows_a_value_unless_corrected():
    assert answer(past_step(), quirks=FAITHFUL).endswith("Action: SELECT\nValue: SmallRationale: They said so.")
    assert answer(past_step(), quirks=CORRECTED).endswith("Action: SELECT\nValue: Small\nRationale: They said so.")


@pytest.mark.parametrize("quirks", [FAITHFUL, CORRECTED])
def test_a_click_already_ends_in_a_line_break(quirks):
    assert answer(past_step(operation="CLICK"), quirks=quirks).endswith("Action: CLICK\nRationale: They said so.")


def test_a_step_without_gold_element_gets_the_fixed_rationale():
    nothing = past_step(positive_ids=(), rationale=None)
    assert answer(nothing) == f"NoneRationale: {OURS.rationale_none}"
    assert answer(nothing, form=BY_LETTER, quirks=CORRECTED) == f"A.\nRationale: {OURS.rationale_none}"


def test_a_step_without_a_known_rationale_keeps_its_plain_answer():
    assert answer(past_step(rationale=None), form=BY_LETTER) == "B.\nAction: SELECT\nValue: Small"
    assert answer(past_step(), refinement=False, form=BY_LETTER) == "B.\nAction: SELECT\nValue: Small"


def test_simplification_draws_four_high_ranked_negatives_beside_the_gold_element_and_five_without():
    step = past_step(negatives=tuple((str(rank), rank) for rank in range(100, 0, -1)))
    gold, negatives = draw_candidates(step, random.Random(1), SnippetSettings())
    assert gold == "2"
    assert len(negatives) == len(set(negatives)) == 4
    assert all(int(node_id) < 50 for node_id in negatives)
    assert (
        len(
            draw_candidates(past_step(negatives=step.negatives, positive_ids=()), random.Random(1), SnippetSettings())[
                1
            ]
        )
        == 5
    )


def test_without_simplification_every_negative_is_shown():
    assert draw_candidates(past_step(), random.Random(0), SnippetSettings(simplification=False)) == ("2", ["3", "4"])


def test_a_positive_is_drawn_whatever_its_rank_and_the_seed_decides_which():
    drawn = {
        draw_candidates(past_step(positive_ids=("2", "3")), random.Random(seed), SnippetSettings())[0]
        for seed in range(9)
    }
    assert drawn == {"2", "3"}


def test_the_rationale_is_asked_with_the_page_around_the_gold_element_and_the_answer_without_it():
    asked = []
    snippet_messages([past_step()], random.Random(0), rationales=asked.append)
    assert asked[0].answer == "Action: SELECT\nValue: Small"
    assert asked[0].page == "(html(select id=0 sizeSmall)(buttonBuy)(aHelp))"
    assert asked[0].step.key == 7


def test_a_candidate_that_is_not_on_the_page_is_an_error():
    with pytest.raises(IndexError, match="'9'"):
        snippet_messages([past_step(positive_ids=("9",))], random.Random(0))
