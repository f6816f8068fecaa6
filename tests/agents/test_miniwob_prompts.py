"""Prompts for MiniWoB++: refusals, exemplars without retrieval, and what happens when a program fails."""

import pytest

from agents.llm.protocol import Message
from agents.prompts.packs import webnav
from agents.words.exemplar_sets import (
    PublishedExemplars,
    abstracting,
    abstracts,
    act_messages,
    own_exemplar,
    prompt_type,
    specifier,
    system_message,
)

PIE = {
    "demo": [{"state": "<svg/>", "obs": "slices", "act": "agent.press('enter')"}],
    "code_filter_prompt": "Code: <task>",
}


def observed(exemplar, form, told, step, replies, **how):
    """The observation, and what was asked for it."""
    asking, asked, reply = abstracting(exemplar, form, told, step, **how), [], None
    try:
        while True:
            call = next(asking) if reply is None else asking.send(reply)
            asked.append((call.messages[0].content, call.stop))
            reply = replies[len(asked) - 1]
    except StopIteration as done:
        return done.value, asked


FAILS = "```\nobs = 1\n```"


def test_q16_a_missing_fallback_prompt_crashes_as_published_and_is_empty_when_corrected():
    exemplar = PublishedExemplars.from_dict("click-pie", PIE)
    told = "open", "<svg>2</svg>"
    with pytest.raises(KeyError, match="filter_prompt"):
        observed(exemplar, "obs_act", told, 0, [FAILS])
    found, asked = observed(exemplar, "obs_act", told, 0, [FAILS, "slices, in words"], crashes=False)
    assert found == "slices, in words"
    assert asked == [
        ("Code: open", ("Action:", "Output:", "State:")),
        ("State:\n<svg/>\nObservation:\nslices\n\nState:\n<svg>2</svg>\nObservation:", ("Action:",)),
    ]


def test_a_program_makes_the_observation_of_the_page():
    exemplar = PublishedExemplars.from_dict("click-pie", PIE)
    reply = "Here:\n```python\nimport re\nobs = ', '.join(re.findall('[a-z]+', state))\n```"
    assert observed(exemplar, "obs_act", ("open", "<svg/>2<g>"), 0, [reply])[0] == "svg, g"


def test_without_programs_a_model_says_in_words_what_matters():
    exemplar = PublishedExemplars.from_dict("click-pie", PIE)
    found, asked = observed(exemplar, "obs_act", ("open", "<g/>"), 0, ["two slices"], programs=False)
    assert (found, len(asked)) == ("two slices", 1)
    assert asked[0][0].endswith("State:\n<g/>\nObservation:")


def test_steps_beyond_those_of_the_exemplar_are_asked_without_pairs():
    steps = [{"state": "<a/>", "obs": "a", "act": "x"}]
    exemplar = PublishedExemplars.from_dict(
        "terminal", {"demo": [{"task": "t", "trajectory": steps}], "filter_prompt": ["F"]}
    )
    _, asked = observed(exemplar, "multi_obs_act", ("t", "<b/>"), 1, ["words"])
    assert asked == [("State:\n<b/>\nObservation:", ("Action:", "Output:", "State:"))]


def test_pages_are_abstracted_in_the_listed_tasks_and_in_unknown_ones_unless_switched_off():
    assert abstracts("terminal", "program")
    assert abstracts("terminal", "words")
    assert not abstracts("terminal", "none")
    assert not abstracts("click-button", "program")
    assert abstracts("a-task-that-the-paper-does-not-have", "program")
    for task in ("click-pie", "book-flight"):
        with pytest.raises(ValueError, match=f"{task} are too long"):
            abstracts(task, "none")


@pytest.mark.parametrize(
    ("environment", "exemplar"),
    [
        ("click-tab-2-hard", "click-tab-2"),
        ("email-inbox", "email-inbox-nl-turk"),
        ("email-inbox-forward-nl", "email-inbox-nl-turk"),
        ("email-inbox-forward-nl-turk", "email-inbox-nl-turk"),
        ("click-pie", "click-pie"),
    ],
)
def test_without_retrieval_an_environment_uses_its_own_exemplar_or_that_of_a_relative(environment, exemplar):
    assert own_exemplar(environment) == exemplar


def test_a_demo_without_observations_is_shown_by_its_pages():
    exemplar = PublishedExemplars.from_dict("click-button", {"demo": [{"state": "<b/>", "act": "x"}]})
    assert prompt_type(exemplar, abstract=True) == "state_act"
    assert act_messages(exemplar, "state_act", "t", [("old", "y")], "<i/>") == [
        Message("user", "Observation:\n<b/>\nAction:"),
        Message("assistant", "```\nx\n```"),
        Message("user", "Observation:\n<i/>\nAction:"),
    ]


def test_exemplars_are_found_by_task_and_page():
    assert specifier("Click", "<b/>") == "Task: Click\nState:\n<b/>"


def test_the_system_message_names_every_method_of_the_agent():
    message = system_message(webnav())
    assert message.role == "system"
    assert [line.split("(")[0].split()[-1] for line in message.content.split("\n") if "def " in line] == [
        "type",
        "click_xpath",
        "press",
        "click_option",
        "movemouse",
    ]
