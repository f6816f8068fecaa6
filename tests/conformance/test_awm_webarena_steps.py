"""Which actions of a WebArena trajectory are used, and its abstract form."""

import pytest

from agents.memory.workflows.text import abstract_trajectory, webarena_actions
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("awm_webarena_steps"))
def test_kept_actions_and_abstract_form_agree_with_the_published_code(case):
    kept = webarena_actions(case["actions"])
    made = {
        "rule_variant": lambda: kept,
        "prompt_variant": lambda: webarena_actions(case["actions"], idle=False),
        "abstract": lambda: abstract_trajectory(kept),
    }
    for variant, make in made.items():
        with crash_of(case[variant]) as crashes:
            result = make()
        assert crashes or {"ok": result} == case[variant]
