"""Formatting a page for a planner, beyond the conformance cases."""

from agents.words.shown_page import BY_LETTER, IN_FULL, OURS, PageTask, format_input, gold_context
from annotations.dom.tree import parse
from tests.annotations.test_dom_prune import FLIGHTS

TASK = PageTask("Fly from Oslo", ["[link]  Home -> CLICK"], "TYPE", "Oslo")


def test_choices_follow_the_document_and_the_target_names_the_gold_one():
    page = format_input(FLIGHTS, ["10", "9"], TASK, BY_LETTER, gold_id="10")
    assert page.choices == (("9", "(input id=0 text from city )"), ("10", "(button id=1 submitSearch & go)"))
    assert page.target == "C.\nAction: TYPE\nValue: Oslo"
    assert page.input == (
        f"{OURS.header}\nTask: Fly from Oslo\nPrevious actions:\n[link]  Home -> CLICK\n{OURS.question_multichoice}\n\n"
        "A. None of the above\nB. (input id=0 text from city )\nC. (button id=1 submitSearch & go)\n"
    )


def test_a_gold_element_that_is_not_offered_asks_for_none():
    page = format_input(parse(FLIGHTS), ["9"], TASK, IN_FULL, gold_id="10")
    assert (page.target, page.gold_index) == ("None", -1)
    assert gold_context(FLIGHTS, "10", page.id_mapping) == ""


def test_the_gold_context_is_numbered_like_the_page():
    page = format_input(FLIGHTS, ["9", "10"], TASK, IN_FULL, gold_id="10")
    context = gold_context(FLIGHTS, "10", page.id_mapping)
    assert "(button id=1 submitSearch & go)" in context
    assert "(input text from city )" in context


def test_a_step_without_previous_actions_says_so_and_a_memory_snippet_has_no_such_block():
    first = PageTask("Fly from Oslo")
    assert "Previous actions:\nNone\n" in format_input(FLIGHTS, ["9"], first, IN_FULL).input
    assert "Previous" not in format_input(FLIGHTS, ["9"], first, IN_FULL, previous_k=None).input
