"""`manage.py evaluate` and `manage.py recipes`: the contract that scripts rely on."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.models import Run, TrainedModel
from agents.recipes import published
from agents.recipes.literature import RECIPES
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories
from tests.tiny_models import tiny_cross_encoder

ROOT = Path(__file__).resolve().parents[2]
METRICS = {"element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success", "mrr"}


@pytest.fixture
def dataset(db) -> Dataset:
    dataset = factories.make_dataset(name="shopping")
    for split in ("train", "train", "dev"):
        factories.make_conversation(turns=2, steps=3, dataset=dataset, split=split)
    return dataset


def evaluate(*arguments: str) -> tuple[str, str]:
    """What it wrote to stdout and stderr, run in this process."""
    out, err = io.StringIO(), io.StringIO()
    call_command("evaluate", *arguments, "--inline", stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def result(*arguments: str) -> dict:
    lines = evaluate(*arguments, "--json")[0].splitlines()
    assert len(lines) == 1, "exactly one line on stdout"
    return json.loads(lines[0])


def test_a_forecast_is_told_and_starts_nothing(dataset: Dataset) -> None:
    assert (
        "grounded has not run here yet: agents that ask no model take up to 2 s a step."
        in evaluate("grounded", "shopping", "--forecast")[0]
    )
    ran = factories.make_run(dataset, recipe_name="grounded", state="done")
    factories.make_trajectory(ran, dataset.conversations.first())
    ran.steps.update(milliseconds=500)
    told = evaluate("grounded", "shopping", "--split", "train", "--forecast")[0].splitlines()
    assert told[:2] == [
        "1 run of 12 steps in all.",
        "About 6 s on one worker with its models loaded, as earlier runs took.",
    ]
    assert result("grounded", "shopping", "--forecast")["seconds"] == 9.0
    assert not Study.objects.exists()
    with pytest.raises(CommandError, match="no recipe"):
        evaluate("none", "shopping", "--forecast")


@pytest.mark.slow
def test_json_is_one_line_with_the_keys_of_the_contract(dataset, hash_encoder) -> None:
    found = result("grounded", "shopping", "--seed", "3")
    study = Study.objects.get()
    assert list(found) == ["study", "recipe", "dataset", "split", "seed", "preset", "state", "counts", "metrics"]
    assert found | {"metrics": {}} == {
        "study": study.pk,
        "recipe": "grounded",
        "dataset": "shopping",
        "split": "",
        "seed": 3,
        "preset": "corrected",
        "state": "done",
        "counts": {"conversations": 3, "turns": 6, "steps": 18, "failed": 0},
        "metrics": {},
    }


def test_json_names_a_model_that_is_asked_with_other_inputs_than_in_training(dataset, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    tiny_cross_encoder(tmp_path / "own", ["Find a button"], width=16, layers=1)
    turns = factories.make_dataset(source_format="weblinx", project=dataset.project)
    TrainedModel.objects.create(name="own", kind="cross_encoder", project=dataset.project, dataset=turns, config={})
    found = result("deberta", "shopping", "--limit", "1", "--set", "rank.model=own")
    said = "rank.model=own was trained on recorded WebLINX turns; deberta asks it about recorded pages."
    assert found["unlike_training"] == [said]


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["corrected", "faithful"])
def test_metrics_are_fractions_inside_their_intervals(dataset, hash_encoder, preset) -> None:
    metrics = result("grounded", "shopping", "--preset", preset)["metrics"]
    names = set(metrics)
    assert names >= METRICS
    assert all(name.startswith("recall@") and name[7:].isdigit() for name in names - METRICS)
    assert "recall@50" in names
    for name, metric in metrics.items():
        assert list(metric) == ["value", "low", "high", "n", "grouping"], name
        assert 0 <= metric["low"] <= metric["value"] <= metric["high"] <= 1, name
        assert metric["n"] > 0
        assert metric["grouping"] in {"step", "turn", "conversation"}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_metrics(dataset, hash_encoder) -> None:
    first, again = (result("grounded", "shopping", "--seed", "5")["metrics"] for _ in range(2))
    assert first == again


@pytest.mark.slow
def test_split_and_limit_choose_the_conversations(dataset, hash_encoder) -> None:
    found = result("grounded", "shopping", "--split", "train", "--limit", "1")
    assert found["split"] == "train"
    assert found["counts"] == {"conversations": 1, "turns": 2, "steps": 6, "failed": 0}


@pytest.mark.slow
def test_websites_choose_the_conversations(dataset, hash_encoder) -> None:
    (first, *others) = dataset.conversations.order_by("position")
    result("grounded", "shopping", "--websites", first.website.name)
    run = Run.objects.get()
    there = {trajectory.conversation.website.name for trajectory in run.trajectories.all()}
    assert there == {first.website.name} == set(run.websites)
    assert {other.website.name for other in others} - there, "or the choice would be none"
    with pytest.raises(CommandError, match="shopping has no website 'nowhere'"):
        evaluate("grounded", "shopping", "--websites", first.website.name, "nowhere")


def test_a_sweep_runs_on_the_websites_that_the_paper_searched_on(dataset, hash_encoder, monkeypatch) -> None:
    site = dataset.conversations.filter(split="train").first().website.name
    monkeypatch.setitem(published.SEARCHED_SITES, "grounded", {"train": ("elsewhere", site)})
    options = ["grounded", "shopping", "--over", "recall.k=1", "--searched-sites", "--inline"]
    call_command("sweep", *options, "--split", "train", stdout=io.StringIO(), stderr=io.StringIO())
    assert Run.objects.get().websites == [site]
    with pytest.raises(CommandError, match="no website on which settings of grounded were searched on dev"):
        call_command("sweep", *options, "--split", "dev", stdout=io.StringIO(), stderr=io.StringIO())


@pytest.mark.slow
def test_set_changes_the_recipe_that_is_stored_with_the_run(dataset, hash_encoder) -> None:
    changes = ("--set", "rank.link_penalty=0.7", "recall.memory=none", "--set", "rank.role_weight=0.5")
    result("grounded", "shopping", *changes)
    recipe = Run.objects.get().recipe
    assert recipe["rank"]["link_penalty"] == 0.7
    assert (recipe["recall"]["memory"], recipe["recall"]["k"], recipe["rank"]["role_weight"]) == ("none", 3, 0.5)


@pytest.mark.slow
def test_steps_that_failed_are_counted(dataset, hash_encoder) -> None:
    from annotations.models import Step

    Step.objects.filter(pk=Step.objects.first().pk).update(snapshot=None)
    assert result("grounded", "shopping")["counts"]["failed"] == 1


@pytest.mark.slow
def test_progress_goes_to_stderr_and_a_table_to_stdout(dataset, hash_encoder) -> None:
    out, err = evaluate("grounded", "shopping")
    assert "18 of 18 steps" in err
    assert "steps" not in out.splitlines()[0]
    assert "element_accuracy" in out
    assert "95 % interval" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grounded", "shoping"], "there is no dataset 'shoping'; there are: shopping"),
        (["groundhog", "shopping"], "there is no recipe 'groundhog'; choose one of grounded"),
        (["mindact", "shopping"], "mindact cannot run yet: it needs rank.model: train one"),
        (["grounded", "shopping", "--split", "test_domain"], "split test_domain of shopping has no conversation"),
        (["grounded", "shopping", "--set", "rank.topk=3"], "there is no setting 'rank.topk'"),
        (["grounded", "shopping", "--set", "compose.shots=3"], "compose.shots would change nothing in grounded"),
        (["grounded", "shopping", "--set", "rank.top_k=3", "rank.top_k=4"], "--set gives rank.top_k twice: 3 and 4"),
        (["grounded", "shopping", "--set", "rank.top_k"], "--set takes key=value, got 'rank.top_k'"),
        (["grounded", "shopping", "--limit", "0"], "--limit must be at least 1"),
        (["grounded", "shopping", "--seed", "-2"], "seed must lie in 0..2147483647, got -2"),
        (["grounded", "shopping", "--split", "halb"], "invalid choice: 'halb'"),
        (["grounded", "shopping", "--set", "rank.model=/no/such/folder"], "there is no model '/no/such/folder'"),
    ],
)
def test_what_cannot_be_evaluated_is_explained(dataset, arguments, message) -> None:
    with pytest.raises(CommandError, match=message.replace("(", r"\(")):
        evaluate(*arguments)


@pytest.mark.slow
def test_a_failed_command_exits_with_1_and_a_message_without_traceback(transactional_db) -> None:
    from tests.evaluation.workers import environment

    command = [sys.executable, "manage.py", "evaluate", "grounded", "no-such-dataset", "--inline", "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "there is no dataset 'no-such-dataset'; there are: none yet" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_without_inline_workers_do_the_work_and_the_command_follows_them(dataset, worker) -> None:
    worker("patient", "tests.evaluation.deadly_worker")
    out, err = io.StringIO(), io.StringIO()
    call_command("evaluate", "grounded", "shopping", "--json", stdout=out, stderr=err)
    found = json.loads(out.getvalue())
    assert (found["state"], found["counts"]["steps"]) == ("done", 18)
    assert "done: 18 of 18 steps" in err.getvalue()


def test_recipes_lists_every_recipe_and_what_it_lacks(db, monkeypatch) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    out = io.StringIO()
    call_command("recipes", "--json", stdout=out)
    listed = {recipe["name"]: recipe for recipe in json.loads(out.getvalue())}
    assert list(listed) == list(RECIPES)
    assert listed["grounded"]["can_run"] is True
    assert listed["grounded"]["missing"] == []
    assert listed["self-map"]["can_run"] is False
    assert any("LLM_BASE_URL" in need for need in listed["self-map"]["missing"])


def test_recipes_can_be_read_by_people(db) -> None:
    out = io.StringIO()
    call_command("recipes", stdout=out)
    assert "grounded                can run" in out.getvalue()
    assert "needs rank.model: train one from microsoft/deberta-v3-base" in out.getvalue()


@pytest.mark.slow
def test_a_sweep_is_one_study_with_a_run_per_combination(dataset, hash_encoder) -> None:
    out = io.StringIO()
    call_command(
        "sweep",
        "grounded",
        "shopping",
        "--over",
        "recall.k=1,2",
        "recall.weight=0.1,0.3",
        "--split",
        "train",
        "--limit",
        "1",
        "--inline",
        "--json",
        stdout=out,
        stderr=io.StringIO(),
    )
    result = json.loads(out.getvalue())
    runs = Study.objects.get(pk=result["study"]).runs.order_by("pk")
    tried = [(run.recipe["recall"]["k"], run.recipe["recall"]["weight"]) for run in runs]
    assert tried == [(1, 0.1), (1, 0.3), (2, 0.1), (2, 0.3)]
    assert all(run.state == "done" for run in runs)
    assert len(result["tables"][0]["rows"]) == 4
    assert result["chosen_on_test"] is False
