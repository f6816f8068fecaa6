"""Filter and action prompts of MiniWoB++ episodes with scripted replies."""

import pytest

from agents.stages.compose.miniwob_prompts import (
    CORRECTED,
    FAITHFUL,
    FALLBACK_STOP,
    FILTER_STOP,
    CodeFailed,
    PublishedExemplars,
    abstracts,
    act_messages,
    observe,
    prompt_type,
)
from agents.words.trajectory_parse import in_fence
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of, error_of

CODE = {True: "```python\nobs='OBS'+str(len(state))\n```", False: "```\nraise ValueError()\n```"}


def as_dicts(messages):
    return [{"role": message.role, "content": message.content} for message in messages]


def run_code(code, state):
    """Only the two scripts of the cases come here."""
    namespace = {"state": state}
    try:
        exec(code, namespace)
    except ValueError as error:
        raise CodeFailed from error
    return namespace["obs"]


def steps_of(case):
    """The recorded steps, and the one that crashed, which may not be among them: only failing code leads there."""
    return case["steps"] if case["error"] is None else [*case["steps"], {"code_ok": False, "act": ""}]


def episode(case, quirks=FAITHFUL):
    recorded = case["error"] is None
    exemplar = PublishedExemplars.from_dict(case["exemplar_name"], case["exemplar"])
    abstract = abstracts(case["env_name"], case["no_filter_arg"])
    kind = prompt_type(exemplar, abstract)
    assert not recorded or (not abstract, kind) == (case["effective_no_filter"], case["prompt_type"])
    history = []
    for index, step in enumerate(steps_of(case)):
        calls = []

        def ask(messages, stop, calls=calls, code_ok=step["code_ok"]):
            calls.append({"messages": as_dicts(messages), "stop": list(stop)})
            return CODE[code_ok] if len(calls) == 1 else "LLM OBS"

        obs = observe(exemplar, kind, case["task"], case["state"], index, ask, run_code, quirks)
        messages = act_messages(exemplar, kind, case["task"], history, obs)
        if recorded:
            assert calls == step["filter_calls"]
            assert obs == step["obs"]
            assert as_dicts(messages) == step["act_messages_after_system"]
        act = in_fence(f"```python\n{step['act']}\n```")
        assert act == step["act"]
        history.append((obs, act))


@pytest.mark.parametrize("case", params("synapse_miniwob_prompts"))
def test_prompts_agree_with_the_published_code(case):
    with crash_of(case) as crashes:
        episode(case)
    if crashes and error_of(case) is KeyError:
        episode(case, CORRECTED)


def test_the_stop_strings_of_the_calls_are_the_published_ones():
    assert (FILTER_STOP, FALLBACK_STOP) == (("Action:", "Output:", "State:"), ("Action:",))
