"""How a recipe has replies drawn reaches whatever answers, and its trace says what was asked for."""

import pytest

from agents.cookbook.checking import vary
from agents.cookbook.sentences import stages
from agents.recipes.literature import get
from tests.agents.llm_server import failure, serve
from tests.evaluation.recipe_world import reply
from tests.evaluation.test_recipes_run import dataset, run, stored_dataset, weights

__all__ = ["dataset", "stored_dataset", "weights"]
pytestmark = pytest.mark.django_db
DRAWN = {"plan.temperature": "0.7", "plan.top_p": "0.9"}
SEVERAL = DRAWN | {"plan.samples": "3", "imagine.kind": "majority"}


def answers_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", url)
    monkeypatch.setenv("LLM_MODEL", "test-model")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changes", "n"), [("bare", SEVERAL, 3), ("bare", DRAWN, 1), ("mindact-icl", DRAWN, 1)]
)
def test_an_endpoint_is_asked_as_the_recipe_says(name, changes, n, dataset, weights, monkeypatch, hash_encoder) -> None:
    with serve(lambda body: [reply(body)] * body.get("n", 1)) as server:
        answers_at(server.url, monkeypatch)
        result = run(name, dataset, weights, **changes)
    sent = [(body.get("n", 1), body["temperature"], body["top_p"], body["seed"]) for body in server.requests]
    assert set(sent) == {(n, 0.7, 0.9, result.seed)}
    plan = result.steps.first().trace["plan"]
    assert plan["sampling"] == {"n": n, "temperature": 0.7, "top_p": 0.9, "seed": result.seed, "requests": 1}
    assert len(plan["samples"]) == n
    assert plan["samples"][0] == plan["reply"]
    assert plan["answered_by"] == "test-model", "the recipe names none"
    assert result.steps.answered_by() == {"test-model"}


@pytest.mark.slow
def test_an_endpoint_that_gives_one_at_a_time_is_told_of_in_the_trace(
    dataset, weights, monkeypatch, hash_encoder
) -> None:
    def one(body):
        return failure(400, "n must be 1") if body.get("n", 1) > 1 else reply(body)

    with serve(one) as server:
        answers_at(server.url, monkeypatch)
        result = run("bare", dataset, weights, **SEVERAL)
        seeds = {body["seed"] for body in server.requests if "n" not in body}
    assert seeds == {result.seed, result.seed + 1, result.seed + 2}
    for step in result.steps.all():
        assert (step.trace["plan"]["sampling"]["requests"], step.calls) == (3, 3)


@pytest.mark.slow
def test_local_weights_draw_as_the_recipe_says(dataset, weights, hash_encoder) -> None:
    here = {"plan.backend": "local", "plan.model": str(weights["seq2seq"]), "plan.max_new_tokens": "4"}
    result = run("bare", dataset, weights, **here, **SEVERAL | {"plan.temperature": "3"})
    drawn = [step.trace["plan"]["samples"] for step in result.steps.all() if "samples" in step.trace["plan"]]
    assert {len(samples) for samples in drawn} == {3}
    assert any(len(set(samples)) > 1 for samples in drawn)
    single = run("mindact", dataset, weights, **{"plan.temperature": "3"})
    assert single.steps.first().trace["plan"]["sampling"]["n"] == 1
    greedy = run("mindact", dataset, weights)
    assert greedy.steps.answered_by() == set()
    assert "sampling" not in greedy.steps.first().trace["plan"]


def test_sampling_that_would_change_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"plan\.top_p would change nothing.*plan\.temperature above 0"):
        vary(get("bare"), {"plan.top_p": "0.5"})
    with pytest.raises(ValueError, match=r"plan\.top_p must be above 0, at most 1"):
        vary(get("bare"), {"plan.top_p": "0", "plan.temperature": "1"})
    (said,) = [stage.sentence for stage in stages(vary(get("bare"), SEVERAL)) if stage.name == "plan"]
    assert "Draws 3 replies of each prompt at temperature 0.7, of the likeliest tokens with 90% together." in said
