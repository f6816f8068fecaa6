"""Published episodes of Synapse on MiniWoB++ go in by the door that users take: goals, a live study, its steps."""

import pytest

from agents.models import Run
from evaluation.scores.live import episodes_of
from tests.conformance.cases import first_quick
from tests.conformance.crashes import error_of
from tests.conformance.program_front_door import PublishedEpisode
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db


def episode(case: dict, patch: pytest.MonkeyPatch) -> PublishedEpisode:
    """With the step that crashed, where one did: it is not among the recorded ones."""
    crashed = [{"code_ok": False, "act": ""}] if case["error"] else []
    steps = [*case["steps"], *crashed]
    published = PublishedEpisode(patch, task=case["env_name"], words=case["task"], page=case["state"], steps=steps)
    published.import_set(case["exemplar_name"], case["exemplar"], ["key"])
    published.nearest(["key"])
    return published


CRASHES = {
    "env_name": "click-pie",
    "exemplar_name": "click-pie",
    "exemplar": {"demo": [{"state": "s", "obs": "o", "act": "a"}], "code_filter_prompt": "C"},
    "no_filter_arg": False,
    "task": "TASK TEXT",
    "state": "<div/>",
    "steps": [],
    "error": "KeyError: 'filter_prompt'",
}


@pytest.mark.slow
@first_is_quick("case", first_quick("synapse_miniwob_prompts"))
def test_prompts_agree_with_the_published_code(case: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    published = episode(case, monkeypatch)
    settings = {"recall__exemplar_k": "1"} | ({"simplify__abstraction": "none"} if case["no_filter_arg"] else {})
    run = published.play(**settings)
    assert run.state == Run.State.DONE, run.error
    model, rows = published.model, list(run.steps.order_by("seq"))
    if error_of(case) is KeyError:
        assert "filter_prompt" in rows[-1].error
        again = published.play(**settings | {"quirks__q16_missing_fallback_crashes": "false"})
        assert not again.steps.exclude(error="").exists()
        return
    assert len(model.acts) == len(case["steps"])
    decided = [row for row in rows if row.operation == "TYPE"]
    for step, asked, filters, row in zip(case["steps"], model.acts, model.filters, decided, strict=False):
        assert asked[0]["role"] == "system"
        assert asked[1:] == step["act_messages_after_system"]
        assert filters == step["filter_calls"]
        assert (row.trace["simplify"]["page"], row.trace["simplify"]["form"]) == (step["obs"], case["prompt_type"])
        assert row.trace["plan"]["program"] == step["act"]
    assert [(row.operation, row.value) for row in rows] == [("TYPE", "x")] * len(case["steps"]) + [("STOP", "")]
    assert [(one.task, one.reward) for one in episodes_of(run.trajectories.all())] == [(case["env_name"], 0.0)]
    shown = {score.metric: score.value for score in run.scores.headline("faithful")}
    assert (shown["episode_success"], shown["episode_steps"]) == (0.0, len(rows))


@pytest.mark.slow
def test_a_case_may_record_an_error_instead_of_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Q16: no words for when a program fails."""
    test_prompts_agree_with_the_published_code(CRASHES, monkeypatch)
