"""How a recipe has replies drawn reaches whatever answers, and its trace says what was asked for."""

import pytest

from agents.recipes.checking import vary
from agents.recipes.literature import get
from agents.recipes.sentences import stages
from tests.agents.llm_server import failure, serve
from tests.evaluation.recipe_world import reply
from tests.evaluation.test_recipes_run import dataset, run, weights

__all__ = ["dataset", "weights"]
pytestmark = pytest.mark.django_db
DRAWN = {"plan.temperature": "0.7", "plan.top_p": "0.9", "plan.samples": "3"}


def answers_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", url)
    monkeypatch.setenv("LLM_MODEL", "test-model")


@pytest.mark.parametrize("name", ["bare", "mindact-icl"])
def test_an_endpoint_is_asked_as_the_recipe_says(name, dataset, weights, monkeypatch, hash_encoder) -> None:
    with serve(lambda body: [reply(body)] * body["n"]) as server:
        answers_at(server.url, monkeypatch)
        result = run(name, dataset, weights, **DRAWN)
    sent = [(body["n"], body["temperature"], body["top_p"], body["seed"]) for body in server.requests]
    assert set(sent) == {(3, 0.7, 0.9, result.seed)}
    plan = result.steps.first().trace["plan"]
    assert plan["sampling"] == {"n": 3, "temperature": 0.7, "top_p": 0.9, "seed": result.seed, "requests": 1}
    assert len(plan["samples"]) == 3
    assert plan["samples"][0] == plan["reply"]


def test_an_endpoint_that_gives_one_at_a_time_is_told_of_in_the_trace(
    dataset, weights, monkeypatch, hash_encoder
) -> None:
    def one(body):
        return failure(400, "n must be 1") if body.get("n", 1) > 1 else reply(body)

    with serve(one) as server:
        answers_at(server.url, monkeypatch)
        result = run("bare", dataset, weights, **DRAWN)
        seeds = {body["seed"] for body in server.requests if "n" not in body}
    assert seeds == {result.seed, result.seed + 1, result.seed + 2}
    for step in result.steps.all():
        assert (step.trace["plan"]["sampling"]["requests"], step.calls) == (3, 3)


def test_local_weights_draw_as_the_recipe_says(dataset, weights, hash_encoder) -> None:
    names = {"rank.top_k": "5", "plan.temperature": "3"}
    result = run("mindact", dataset, weights, **names, **{"plan.samples": "3"})
    rounds = [asked for step in result.steps.all() for asked in step.trace["plan"]["rounds"]]
    assert {len(asked["samples"]) for asked in rounds} == {3}
    assert any(len(set(asked["samples"])) > 1 for asked in rounds)
    greedy = run("mindact", dataset, weights)
    assert "sampling" not in greedy.steps.first().trace["plan"]


def test_sampling_that_would_change_nothing_is_refused() -> None:
    for name in ("plan.top_p=0.5", "plan.samples=3"):
        setting, _, value = name.partition("=")
        with pytest.raises(ValueError, match=rf"{setting} would change nothing.*plan\.temperature above 0"):
            vary(get("bare"), {setting: value})
    with pytest.raises(ValueError, match=r"plan\.top_p must be above 0, at most 1"):
        vary(get("bare"), {"plan.top_p": "0", "plan.temperature": "1"})
    (said,) = [stage.sentence for stage in stages(vary(get("bare"), DRAWN)) if stage.name == "plan"]
    assert "Draws 3 replies of each prompt at temperature 0.7, of the likeliest tokens with 90% together." in said
