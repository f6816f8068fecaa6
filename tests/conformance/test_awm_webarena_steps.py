"""Which actions of a WebArena trajectory are used, and its abstract form."""

import pytest

from agents.memory.workflow_text import abstract_trajectory, webarena_actions
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("awm_webarena_steps"))
def test_kept_actions_and_abstract_form_agree_with_the_published_code(case):
    kept = webarena_actions(case["actions"])
    assert {"ok": kept} == case["rule_variant"]
    assert {"ok": webarena_actions(case["actions"], idle=False)} == case["prompt_variant"]
    assert {"ok": abstract_trajectory(kept)} == case["abstract"]
