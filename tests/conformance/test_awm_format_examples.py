"""The tasks that workflows are induced from, as text."""

import pytest

from agents.memory.workflows.text import format_examples
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("awm_format_examples"))
def test_text_agrees_with_the_published_code(case):
    examples = [(example["confirmed_task"], example["action_reprs"]) for example in case["examples"]]
    with crash_of(case) as crashes:
        text = format_examples(examples, case["prefix"], case["suffix"])
    assert crashes or text == case["expected"]
