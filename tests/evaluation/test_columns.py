"""Which columns a table of scores has: by what the planners decide, not by what they are called."""

import pytest

from agents.stages import registry
from agents.stages.plan.action_strings import ActionString
from evaluation.scores.tables import decide_turns


class ActionStringOfOthers(ActionString):
    """A planner of another package that decides WebLINX turns."""


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"action_string"}, True),
        ({"action_string", "of_others"}, True),
        ({"action_string", "grounded"}, False),
        ({"gone"}, False),
        (set(), False),
    ],
)
def test_planners_that_all_decide_turns_have_the_columns_of_weblinx(monkeypatch, kinds: set, expected: bool) -> None:
    every = registry.kinds()
    more = every["plan.kind"] | {"of_others": ActionStringOfOthers}
    monkeypatch.setattr(registry, "kinds", lambda: every | {"plan.kind": more})
    assert decide_turns(kinds) is expected
