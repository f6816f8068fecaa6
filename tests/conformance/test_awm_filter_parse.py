"""A model's workflows without the prompt's example, and taken apart."""

import pytest

from agents.memory.workflows.text import filter_workflows, parse_workflows
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("awm_filter_parse"))
def test_kept_text_and_workflows_agree_with_the_published_code(case):
    with crash_of(case) as crashes:
        kept = filter_workflows(case["text"], case["website"])
        parsed = parse_workflows(kept, case["website"])
    if crashes:
        return
    assert kept == case["filtered"]
    workflows = [
        {
            "website": workflow.website,
            "name": f"## {workflow.name}",
            "docstring": workflow.description,
            "content": workflow.content,
        }
        for workflow in parsed
    ]
    assert workflows == case["parsed_workflows"]
