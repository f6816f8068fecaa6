"""Who wrote what an agent is shown beside the planner's answers is told: in reports, on pages, on models' cards."""

import html
import io
import re

import pytest
from django.core.management import CommandError, call_command

from agents.cookbook import starters
from agents.models import TrainedModel
from agents.recipes import literature
from agents.runs.writers import SMALL, RunWriters
from annotations.models import Rationale, Step
from evaluation.reports.tables import report
from tests import factories
from tests.evaluation.recipe_world import make_workflows
from tests.evaluation.test_recipes_run import dataset, endpoint, run, stored_dataset, weights

__all__ = ["dataset", "endpoint", "stored_dataset", "weights"]
pytestmark = pytest.mark.django_db
SMOLLM2 = "embedded:smollm2-135m"


def written_before(dataset, split: str, count: int) -> None:
    """Rationales by a small model, as an earlier run without an endpoint stored them."""
    steps = Step.objects.filter(turn__conversation__dataset=dataset, turn__conversation__split=split).order_by("pk")
    for step in steps[:count]:
        Rationale.objects.create(step=step, text="It fits.", source=Rationale.Source.MODEL, model_name=SMOLLM2)


@pytest.mark.slow
def test_rationales_by_another_model_than_the_one_that_is_asked_are_named(
    dataset, weights, endpoint, hash_encoder, client
) -> None:
    written_before(dataset, "test_task", 1)
    person, *_ = Step.objects.filter(turn__conversation__split="test_task").order_by("-pk")
    factories.make_rationale(person)
    result = run("self-map", dataset, weights)
    by = RunWriters(result).written()["rationales"]
    assert by[SMOLLM2] == by["people"] == 1
    assert by["test-model"] >= 1
    (table,) = report([result.studies.get()])
    (said,) = [note for note in table.notes if "rationales" in note]
    assert f"1 by {SMOLLM2}" in said
    assert f"{by['test-model']} by test-model" in said
    assert SMALL in table.notes
    client.force_login(factories.make_user("reader", dataset.project))
    page = client.get(f"/runs/{result.pk}/").content.decode().partition('id="written"')[2]
    assert f"1 by {SMOLLM2}" in page
    Rationale.objects.filter(model_name=SMOLLM2).delete()
    (table,) = report([result.studies.get()])
    assert SMALL not in table.notes
    assert not any(SMOLLM2 in note for note in table.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "what"),
    [("mindact-car", "rewritten instructions"), ("mims", "objectives"), ("mims", "workflows"), ("awm", "workflows")],
)
def test_whoever_rewrites_predicts_or_induces_is_named(name, what, dataset, weights, endpoint, hash_encoder) -> None:
    made = make_workflows(dataset)
    dataset.workflows.update(model_name=SMOLLM2)
    by = RunWriters(run(name, dataset, weights)).written()[what]
    assert list(by) == ([SMOLLM2] if what == "workflows" else ["test-model"])
    assert sum(by.values()) == (len(made) if what == "workflows" else 4 if name == "mindact-car" else 6)


@pytest.mark.slow
def test_a_recipe_that_shows_nothing_written_says_nothing(dataset, weights, endpoint, hash_encoder) -> None:
    written_before(dataset, "test_task", 1)
    assert RunWriters(run("mindact", dataset, weights)).written() == {}


def test_what_stands_in_for_other_writers_than_the_planner_is_told_of_the_recipe(monkeypatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    own = {"plan.model": "mine", "rank.model": "mine"}
    for recipe, stage in (("self-map", "simplify"), ("mindact-car", "recall")):
        said = starters.stands_in(literature.override(literature.get(recipe), own))
        assert [(one.stage, SMOLLM2 in one.words) for one in said] == [(stage, True)]
    assert starters.stands_in(literature.override(literature.get("self-map-no-rationale"), own)) == []
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "gpt")
    assert starters.stands_in(literature.override(literature.get("self-map"), own)) == []


@pytest.mark.slow
def test_a_training_says_what_rationales_it_will_ask_for_and_its_card_who_wrote_them(
    dataset, weights, endpoint, hash_encoder, settings, tmp_path, monkeypatch, capsys
) -> None:
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    for unit in ("PROMPT", "COMPLETION"):
        monkeypatch.setenv(f"LLM_PRICE_{unit}", "1000")
    written_before(dataset, "train", 3)
    few = ["epochs=1", "repeats=1", "mixed_precision=no", "compose.max_tokens=128"]
    asked = ("train_planner", dataset.name, "--recipe", "self-map", "--inline", "--base", str(weights["seq2seq"]))
    for name in ("own", "again"):
        call_command(*asked, "--name", name, "--set", *few, stdout=io.StringIO())
        told = capsys.readouterr().err
        assert ("test-model is asked for 9 rationales that nobody has written: at most" in told) == (name == "own")
        assert (
            ("at the prices of today." in told)
            == ("Nothing limits these calls: --max-tokens" in told)
            == (name == "own")
        )
        card = (TrainedModel.objects.get(name=name).folder / "README.md").read_text()
        assert f"12 rationales (9 by test-model, 3 by {SMOLLM2})" in card
        assert SMALL in card


FEW = ["epochs=1", "repeats=1", "mixed_precision=no", "compose.max_tokens=128"]


@pytest.fixture
def training(dataset, weights, settings, tmp_path, monkeypatch):
    """Starts a training of the recorded conversations by its command."""
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    base = str(weights["seq2seq"])

    def start(recipe: str, name: str, *more: str) -> TrainedModel:
        asked = ("train_planner", dataset.name, "--recipe", recipe, "--inline", "--base", base, "--name", name)
        call_command(*asked, *more, "--set", *FEW, stdout=io.StringIO())
        return TrainedModel.objects.get(name=name)

    return start


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "what"), [("self-map", "rationale"), ("mindact-car", "instruction")])
def test_a_training_keeps_to_its_budget_and_counts_what_it_asks(
    recipe, what, training, endpoint, hash_encoder, client, dataset
) -> None:
    with pytest.raises(CommandError, match=r"limit of 3 tokens is reached: 0 are spent.*higher --max-tokens"):
        training(recipe, "own", "--max-tokens", "3")
    stopped = TrainedModel.objects.get(name="own")
    assert (stopped.spent_tokens, stopped.ready) == (0, False)
    assert not endpoint.requests, "the first request did not fit"
    model = training(recipe, "own", "--max-tokens", "100000")
    assert (model.ready, model.budget_tokens) == (True, 100000)
    assert 0 < model.spent_tokens <= 100000
    asks = model.current_job().params["asks"]
    count = int(re.match(rf"test-model is asked for (\d+) {what}s", asks[0])[1])
    assert 0 < len(endpoint.requests) <= count, "equal ones are asked once"
    at_most = int(re.search(r"at most ([\d,]+) tokens", asks[0])[1].replace(",", ""))
    assert model.spent_tokens <= at_most, "the forecast is an upper bound"
    assert asks[1:] == ["It may use at most 100,000 tokens."]
    client.force_login(factories.make_user("reader", dataset.project))
    page = " ".join(client.get("/models/own/").content.decode().split()).partition('id="calls"')[2]
    assert asks[0] in html.unescape(page)
    assert f"{model.spent_tokens:,} tokens" in page.replace("\u202f", ",").replace("\u00a0", ",")
    told = client.get(f"/api/models/{model.pk}/").json()
    assert (told["asks"], told["spent_tokens"]) == (asks, model.spent_tokens)


@pytest.mark.slow
def test_a_training_that_asks_nothing_tells_nothing_and_money_is_limited_only_where_prices_are_known(
    training, endpoint, hash_encoder, monkeypatch
) -> None:
    assert "asks" not in training("mindact", "plain").current_job().params
    assert not endpoint.requests
    for unit in ("PROMPT", "COMPLETION"):
        monkeypatch.delenv(f"LLM_PRICE_{unit}", raising=False)
    with pytest.raises(CommandError, match="a limit on money needs prices per million tokens"):
        training("self-map", "own", "--max-cost", "1")
    with pytest.raises(CommandError, match="the limit on tokens must be 0 or more, got -1"):
        training("self-map", "own", "--max-tokens", "-1")
    assert not TrainedModel.objects.filter(name="own").exists()
