"""Prompts with trajectories: corrected quirks, targets that cleaning lost, budgets and our own prompt files."""

import re

import pytest

from agents.llm.protocol import Message
from agents.prompts.packs import webnav
from agents.words.past_step import PastStep
from agents.words.trajectory import (
    abstraction_query,
    act_query,
    chat_tokens,
    exemplar_messages,
    fit,
    memory_key,
    naive_demos,
    shown,
    system_message,
)
from agents.words.trajectory_page import (
    observation,
    observed_ids,
    recorded_target,
    target_act,
)
from agents.words.trajectory_parse import ActionParts, bare_act, in_backticks, parse_act

LAYOUT = re.compile(r"Observation:\n```\n(.+)\n```\nTask: (.+)\nPrevious actions:\n((?:.|\n)+)\nNext action:")
PAGE = (
    '<html backend_node_id="1"><a backend_node_id="2"><text>Home</text></a>'
    '<button backend_node_id="3"><text>Go</text></button></html>'
)


def gold_step(**fields):
    values = {
        "key": 7,
        "turn_index": 0,
        "step_index": 0,
        "instruction": "",
        "action_repr": "[button]  Go -> CLICK",
        "operation": "CLICK",
        "value": "",
        "html": PAGE,
        "positive_ids": ("3",),
        "negatives": (("2", 1), ("1", 0)),
    }
    return PastStep(**values | fields)


def test_q18_the_gold_element_leads_whatever_its_rank():
    assert observed_ids(gold_step(), 2) == ["3", "1"]


def test_a_target_that_cleaning_lost_comes_from_the_recorded_page():
    step = gold_step(
        positive_ids=(), raw_html=PAGE.replace("</html>", '<b backend_node_id="9"/></html>'), raw_target_id="9"
    )
    assert recorded_target(step) == "<b id=9 />"
    assert observation(step, 3).endswith("<b id=9 /> </html>")
    assert target_act(step) == "CLICK [9]"


def test_without_a_recorded_page_only_the_candidates_are_shown():
    step = gold_step(positive_ids=())
    assert observation(step, 3) == "<html id=1><a id=2>Home</a><button>Go</button></html>"
    assert target_act(step) == "CLICK []"


def test_a_recorded_page_without_its_target_is_an_error():
    with pytest.raises(IndexError, match="'8'"):
        recorded_target(gold_step(positive_ids=(), raw_html=PAGE, raw_target_id="8"))
    spaced = PAGE.replace("</html>", '<b backend_node_id="9  9"/></html>')  # rendering collapses the spaces
    with pytest.raises(ValueError, match="does not show its target"):
        recorded_target(gold_step(positive_ids=(), raw_html=spaced, raw_target_id="9  9"))


def test_a_target_without_end_tag_runs_on_to_the_next_one_of_its_name():
    page = PAGE.replace('<a backend_node_id="2">', '<a backend_node_id="9"/><a backend_node_id="2">')
    step = gold_step(positive_ids=(), raw_html=page, raw_target_id="9")
    assert recorded_target(step) == "<a id=9 /><a>Home</a>"


def test_actions_that_take_a_value_name_it():
    assert target_act(gold_step(operation="TYPE", value="a b")) == "TYPE [3] [a b]"


def test_the_task_stands_before_the_first_page_only():
    past = shown(gold_step())
    query = act_query("Go", [past], "<html/>")
    assert query[:2] == exemplar_messages("Go", [past])
    assert query[0].content.startswith("Task: Go\nTrajectory:\nObservation: `<html")
    assert query[1] == Message("assistant", "Action: `CLICK [3]` ([button]  Go -> CLICK)")
    assert query[2] == Message("user", "Observation: `<html/>`")


def test_prompts_without_trajectory_show_the_last_five_actions():
    (message,) = abstraction_query("Go", [str(number) for number in range(7)], "<html/>")
    assert message.content.endswith("Task: Go\nPrevious actions:\n2\n3\n4\n5\n6\nNext action:")


def count(messages):
    return chat_tokens(messages, len)


def test_the_first_exemplar_that_does_not_fit_keeps_out_the_rest():
    system, query = Message("system", "s"), [Message("user", "q")]
    short, long = [Message("user", "e")], [Message("user", "e" * 100)]
    room = count([system, *query]) + 2 * (count(short) - 3)
    assert fit(system, [short, short], query, count, room) == [system, *short, *short, *query]
    assert fit(system, [short, short], query, count, room - 1) == [system, *short, *query]
    assert fit(system, [long, short], query, count, room) == [system, *query]


def test_a_query_beyond_the_limit_gives_no_prompt():
    system, query = Message("system", "s"), [Message("user", "q")]
    assert fit(system, [], query, count, count([system, *query])) == [system, *query]
    assert fit(system, [], query, count, count([system, *query]) - 1) is None


def test_our_demos_read_as_the_queries_and_answers_that_they_stand_for():
    demos = naive_demos(webnav())
    assert len(demos) == 3
    for question, answer in demos:
        assert (question.role, answer.role) == ("user", "assistant")
        act = parse_act(in_backticks(answer.content))
        assert f"id={act.node_id} " in question.content
        page, task, *actions = LAYOUT.fullmatch(question.content).groups()
        previous = [] if actions == ["None"] else actions[0].split("\n")
        assert abstraction_query(task, previous, page) == [question]


@pytest.mark.parametrize("trajectory", [True, False])
def test_the_system_message_names_every_action(trajectory):
    message = system_message(webnav(), trajectory)
    assert message.role == "system"
    assert all(text in message.content for text in ("`CLICK [id]`", "`TYPE [id] [value]`", "`SELECT [id] [value]`"))


def test_the_memory_key_has_four_lines():
    assert memory_key("united", "Travel", "Airlines", "Book") == (
        "Website: united\nDomain: Travel\nSubdomain: Airlines\nTask: Book"
    )


@pytest.mark.parametrize(
    ("reply", "act"),
    [
        ("I would [CLICK] [12] now", "CLICK [12]"),
        ("TYPE [3][new york]", "TYPE [3] [new york]"),
        ("click [3]", ""),
    ],
)
def test_a_reply_without_backticks_is_searched_for_an_action(reply, act):
    assert bare_act(reply) == act


def test_an_act_that_says_nothing_has_an_empty_operation_text():
    assert parse_act("none") == ActionParts(None, None, None)
    assert parse_act("none").operation_text() == " "
