"""Prompts for MiniWoB++: refusals, exemplars without retrieval, and what happens when generated code fails."""

import pytest

from agents.llm.protocol import Message
from agents.prompts.packs import webnav
from agents.stages.compose.miniwob_prompts import (
    CORRECTED,
    FAITHFUL,
    CodeFailed,
    PublishedExemplars,
    abstracts,
    act_messages,
    observe,
    own_exemplar,
    prompt_type,
    specifier,
    system_message,
)

PIE = {
    "demo": [{"state": "<svg/>", "obs": "slices", "act": "agent.press('enter')"}],
    "code_filter_prompt": "Code: <task>",
}


def fail(code, state):
    raise CodeFailed(code)


class Asked:
    """Answers every call with the same words and keeps what was asked."""

    def __init__(self):
        self.calls = []

    def __call__(self, messages, stop):
        self.calls.append((messages[0].content, stop))
        return "```\nobs = 1\n```"


def test_q16_a_missing_fallback_prompt_crashes_as_published_and_is_empty_when_corrected():
    exemplar, ask = PublishedExemplars.from_dict("click-pie", PIE), Asked()
    arguments = (exemplar, "obs_act", "open", "<svg>2</svg>", 0, ask, fail)
    with pytest.raises(KeyError, match="filter_prompt"):
        observe(*arguments, FAITHFUL)
    assert observe(*arguments, CORRECTED) == "```\nobs = 1\n```"
    assert ask.calls[0] == ("Code: open", ("Action:", "Output:", "State:"))
    assert ask.calls[-1] == (
        "State:\n<svg/>\nObservation:\nslices\n\nState:\n<svg>2</svg>\nObservation:",
        ("Action:",),
    )


def test_generated_code_gets_what_the_fence_holds_and_the_page():
    seen = []

    def run(code, state):
        seen.append((code, state))
        return "observed"

    exemplar = PublishedExemplars.from_dict("click-pie", PIE)
    assert observe(exemplar, "obs_act", "open", "<svg/>", 0, Asked(), run) == "observed"
    assert seen == [("obs = 1", "<svg/>")]


def test_steps_beyond_those_of_the_exemplar_are_asked_without_pairs():
    steps = [{"state": "<a/>", "obs": "a", "act": "x"}]
    exemplar = PublishedExemplars.from_dict(
        "terminal", {"demo": [{"task": "t", "trajectory": steps}], "filter_prompt": ["F"]}
    )
    ask = Asked()
    observe(exemplar, "multi_obs_act", "t", "<b/>", 1, ask, fail)
    assert ask.calls == [("State:\n<b/>\nObservation:", ("Action:", "Output:", "State:"))]


def test_pages_are_abstracted_in_the_listed_environments_unless_switched_off():
    assert abstracts("terminal")
    assert not abstracts("terminal", no_filter=True)
    assert not abstracts("click-button")
    for environment in ("click-pie", "book-flight"):
        with pytest.raises(ValueError, match=f"{environment} are too long"):
            abstracts(environment, no_filter=True)


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
