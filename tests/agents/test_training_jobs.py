"""Trainings as jobs: started, sliced, told, ended in one folder that recipes can load; and their commands."""

import json
import re
import shutil
import time
from typing import Any

import pytest
import torch
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from agents.encoders import weights
from agents.encoders.weights import MINILM
from agents.models import TrainedModel
from agents.recipes import literature
from agents.runs.building import build_training
from agents.stages.registry import training_of
from agents.training.jobs import run_inline, start_training
from agents.training.samples import rows as training_rows
from agents.training.samples.rows import SplitRows, StepRows, as_set
from agents.training.settings import make_settings, read_settings, unread
from agents.training.work import Work
from annotations.jobs import running
from annotations.models import Job
from tests.factories import PAGE, make_conversation, make_dataset, make_prompt_pack, make_user
from tests.quick import first_is_quick
from tests.tiny_models import tiny_causal, tiny_cross_encoder, tiny_encoder, tiny_t5

pytestmark = pytest.mark.django_db

TEXTS = [PAGE, "Task: Please do part 1 of the task. Previous actions: None Action: CLICK TYPE SELECT"]
QUICK = {"epochs": 1, "learning_rate": "0.001", "mixed_precision": "no"}
PLANNER = {"repeats": 1, "dev_examples": 2, "max_new_tokens": 3, "max_length": 128}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def model_root(tmp_path, settings, monkeypatch):
    settings.MODEL_ROOT = tmp_path / "models"
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path / "models"))
    return settings.MODEL_ROOT


@pytest.fixture
def dataset():
    dataset = make_dataset(licence="CC BY 4.0")
    make_conversation(turns=2, steps=3, dataset=dataset)
    make_conversation(turns=1, steps=3, dataset=dataset)
    make_conversation(turns=1, steps=3, dataset=dataset, split="dev")
    make_conversation(turns=1, steps=3, dataset=dataset, split="test_task")
    return dataset


MAKERS = {"cross_encoder": tiny_cross_encoder, "dual_encoder": tiny_encoder, "seq2seq": tiny_t5, "causal": tiny_causal}


def base_of(tmp_path, kind: str) -> str:
    """Tiny weights to start from: those that papers start from are not to be had everywhere."""
    return str(MAKERS[kind](tmp_path / f"base-{kind}", TEXTS, layers=1, width=32))


def start(dataset, tmp_path, kind: str, name: str = "first", **changes) -> TrainedModel:
    base = base_of(tmp_path, kind)
    changes = QUICK | (PLANNER if kind in ("seq2seq", "causal") else {}) | changes
    return start_training(user=None, dataset=dataset, kind=kind, name=name, base=base, changes=changes, publish=False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"learning_rate": "-5"}, "learning_rate must be above 0, got -5"),
        ({"dropout": "7"}, "dropout must lie in 0..1, got 7"),
        ({"noise": "nan"}, "noise must"),
        ({"warmth": "1"}, "there is no setting 'warmth'"),
    ],
)
def test_bad_settings_of_the_own_planner_are_refused_before_anything_is_read(dataset, changes, said) -> None:
    asked = {"user": None, "dataset": dataset, "kind": "grounded", "name": "own", "base": MINILM, "publish": False}
    with pytest.raises(ValidationError, match=re.escape(said)):
        start_training(**asked, changes=changes)
    assert not TrainedModel.objects.exists()


@pytest.mark.slow
@first_is_quick("kind", MAKERS)
def test_a_training_ends_in_one_folder_with_everything(dataset, tmp_path, kind) -> None:
    model = start(dataset, tmp_path, kind)
    begun = time.monotonic()
    job = run_inline(model)
    assert (job.state, job.last_error) == ("done", "")
    assert 0 < job.report["seconds"] <= time.monotonic() - begun + 0.1  # rounded; no slice counts twice
    model.refresh_from_db()
    assert model.ready
    names = {path.name for path in model.folder.iterdir()}
    assert {"model.safetensors", "tokenizer.json", "config.json", "training.json", "metrics.json", "README.md"} <= names
    assert not {"work", "checkpoint.pt"} & names
    written = json.loads((model.folder / "training.json").read_text())
    assert written["data_sha256"] == model.data_sha256 == SplitRows(dataset, "train").sha256
    assert (written["split"], written["conversations"]) == ("train", 2)
    assert json.loads((model.folder / "metrics.json").read_text()) == model.metrics
    assert any(name.startswith("dev_") for name in model.metrics)
    card = (model.folder / "README.md").read_text()
    assert all(word in card for word in (dataset.name, model.data_sha256, "CC BY 4.0", "Seed", model.base))
    assert model.curve[-1]["step"] == model.metrics["steps"]
    assert weights.find(model.name) == model.folder


@pytest.mark.slow
def test_slices_of_one_step_each_end_with_the_same_model(dataset, tmp_path, monkeypatch) -> None:
    whole = start(dataset, tmp_path, "cross_encoder", "whole", batch_size=9)
    run_inline(whole)
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    cut, rounds = start(dataset, tmp_path, "cross_encoder", "cut", batch_size=9), []
    job = run_inline(cut, lambda: rounds.append(Job.objects.get(pk=cut.job_id)))
    assert job.state == "done"
    assert len(rounds) >= 6  # two conversations are read, then the steps
    assert {found.state for found in rounds} == {"queued"}
    assert {found.attempt for found in rounds} == {0}
    files = [model.folder / "model.safetensors" for model in (whole, cut)]
    assert files[0].read_bytes() == files[1].read_bytes()
    whole.refresh_from_db()
    cut.refresh_from_db()
    assert whole.curve == cut.curve


@pytest.mark.slow
def test_a_cancelled_training_stops_and_goes_on_when_tried_again(dataset, tmp_path, monkeypatch) -> None:
    model = start(dataset, tmp_path, "seq2seq", epochs=2)
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    job = run_inline(model, lambda: model.job.cancel())
    assert job.state == "cancelled"
    reached = torch.load(model.folder / "work" / "checkpoint.pt", weights_only=True)["step"]
    monkeypatch.setattr(running, "SLICE_SECONDS", 240)
    monkeypatch.setattr(running, "publish", lambda job: None)
    running.retry(job)
    assert run_inline(model).state == "done"
    model.refresh_from_db()
    assert reached >= 1
    assert model.ready


@pytest.mark.slow
def test_a_training_does_not_go_on_from_what_another_of_its_name_left(dataset, tmp_path, monkeypatch) -> None:
    model = start(dataset, tmp_path, "seq2seq", epochs=2)
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    run_inline(model, lambda: model.job.cancel())
    monkeypatch.setattr(running, "SLICE_SECONDS", 240)
    assert (model.folder / "work" / "checkpoint.pt").exists()
    model.delete()
    assert run_inline(start(dataset, tmp_path, "seq2seq", epochs=1, learning_rate=0.5)).state == "done"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ranker": "x"}, "ranker would change nothing in a training on multichoice: it needs paradigm=action_string"),
        (
            {"history_turns": 9, "paradigm": "generation"},
            "history_turns would change nothing in a training on generati",
        ),
        ({"page_tokens": 99}, "page_tokens would change nothing in a training on multichoice: it needs paradigm=value"),
        ({"paradigm": "world_model", "repeats": 3}, "repeats would change nothing in a training on world_model: .*gen"),
        *(
            ({"paradigm": "trajectory", name: value}, f"{name} would change nothing in a training on trajectory")
            for name, value in {
                "num_candidates": 3,
                "refinement": True,
                "simplification": True,
                "layout": "task",
                "repeats": 2,
                "memory": "none",
            }.items()
        ),
    ],
)
def test_a_setting_that_the_samples_do_not_read_is_refused(dataset, changes, said) -> None:
    with pytest.raises(ValidationError, match=said):
        start_training(user=None, dataset=dataset, kind="seq2seq", name="x", changes=changes, publish=False)
    assert not TrainedModel.objects.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"memory": "none", "memory_k": 9},
            r"^memory_k would .* with memory=none: it needs memory=multifaceted, fixed or",
        ),
        (
            {"memory_k": 9},
            r"^memory_k would change nothing in a training with memory=chronological: it needs memory=mul",
        ),
        (
            {"memory": "none", "refinement": True},
            r"^refinement would .* with memory=none: it needs memory other than none$",
        ),
        ({"memory": "none", "simplification": True}, r"^simplification would .*: it needs memory other than none$"),
    ],
)
def test_a_setting_of_earlier_pages_that_are_not_shown_is_refused(changes, said) -> None:
    assert re.search(said, unread(make_settings("seq2seq", changes)))
    with_memory = changes | {"memory": "multifaceted"}
    assert unread(make_settings("seq2seq", with_memory)) == ""
    shown = literature.override(literature.get("mindact"), {"recall.exemplars": "fixed", "recall.exemplar_k": "1"})
    of_exemplars = "memory_k" not in changes
    assert (unread(make_settings("seq2seq", changes), shown) == "") == of_exemplars, "their pages are past ones, too"


@pytest.mark.parametrize(
    ("recipe", "changes", "listed"),
    [
        ("self-map", {"recall.memory": "none"}, set()),
        ("self-map", {"recall.k": "0"}, set()),
        ("mindact-task", {}, set()),
        ("mindact", {}, {"simplification", "refinement"}),
        ("self-map", {}, {"simplification", "refinement", "memory_k"}),
    ],
)
def test_a_card_lists_nothing_of_earlier_pages_where_none_is_shown(recipe, changes, listed) -> None:
    asked = literature.override(literature.get(recipe), changes)
    kind, follows = training_of(asked)
    settings = make_settings(kind, follows)
    assert unread(settings, asked) == "", "what follows from a recipe is read"
    assert read_settings(settings, asked).keys() & {"simplification", "refinement", "memory_k"} == listed


def test_no_more_worked_examples_are_trained_with_than_the_pack_of_a_project_has(dataset) -> None:
    pack = make_prompt_pack(dataset.project, "mine")
    shots = {"compose.shots": "99", "prompts.pack": str(pack)}
    recipe = literature.override(literature.get("mindact"), shots)
    said = {
        "user": None,
        "dataset": dataset,
        "kind": "seq2seq",
        "name": "x",
        "publish": False,
        "base": "all-MiniLM-L6-v2",
    }
    with pytest.raises(ValidationError, match=r"compose\.shots=99"):
        start_training(**said, recipe=recipe)
    assert not TrainedModel.objects.exists()
    few = literature.override(recipe, {"compose.shots": "1"})
    assert start_training(**said, recipe=few).name == "x"


def test_a_card_lists_the_settings_that_the_training_read() -> None:
    pages = read_settings(make_settings("seq2seq", {"memory": "multifaceted", "memory_k": 2}))
    assert pages["memory_k"] == 2
    assert not pages.keys() & {"ranker", "history_turns", "page_tokens", "lora_rank"}
    assert "memory_k" not in read_settings(make_settings("seq2seq", {"memory": "none"}))
    told = read_settings(make_settings("causal", {"paradigm": "trajectory", "adapter": "lora"}))
    assert told["lora_rank"] == 16
    assert not told.keys() & {"num_candidates", "refinement", "simplification", "layout", "repeats", "memory", "top_k"}
    assert told.keys() >= {"paradigm", "epochs", "max_length", "max_new_tokens", "loss_on"}
    assert "ranker" in read_settings(make_settings("causal", {"paradigm": "action_string"}))


def test_only_the_train_split_is_trained_on(dataset, monkeypatch) -> None:
    with pytest.raises(ValidationError, match="train split only"):
        start_training(user=None, dataset=dataset, kind="seq2seq", name="x", split="test_task", publish=False)
    with pytest.raises(ValueError, match="never on test_task"):
        SplitRows(dataset, "test_task")
    test = dataset.conversations.get(split="test_task")
    with pytest.raises(AssertionError, match="lies in test_task"):
        training_rows.checked(test.pk, "train")
    assert test.pk not in SplitRows(dataset, "train").conversation_ids


RECALLED = [("none", 0), ("chronological", 3), ("fixed", 3), ("task_knn", 3), ("multifaceted", 3)]


@pytest.mark.parametrize(("memory", "remembered"), RECALLED)
def test_planner_steps_carry_the_memory_of_earlier_turns(dataset, memory, remembered) -> None:
    settings = make_settings("seq2seq", {"memory": memory})
    rows = StepRows(SplitRows(dataset, "train"), settings, pipeline=build_training(as_set(settings), dataset))
    assert len(rows) == 9
    found = rows.get(range(9))
    assert [len(step.memory) for step in found] == [0, 0, 0, remembered, remembered, remembered, 0, 0, 0]
    assert found[0].current.positive_ids == ("5",)
    assert {node_id for node_id, _ in found[0].current.negatives} == {"6", "9", "12", "14"}
    assert len(found[2].current.past_actions) == 2


def test_what_is_wrong_is_said_before_anything_is_queued(dataset, tmp_path) -> None:
    arguments = {"user": None, "dataset": dataset, "kind": "seq2seq", "name": "fine", "publish": False}
    arguments["base"] = base_of(tmp_path, "seq2seq")

    def errors(**fields) -> dict:
        with pytest.raises(ValidationError) as error:
            start_training(**arguments | fields)
        return error.value.message_dict

    assert "there is no setting 'lr'" in errors(changes={"lr": 1})["settings"][0]
    assert "paradigm" in errors(changes={"paradigm": "action_string"})
    assert "name" in errors(name="not a name!")
    assert "kind" in errors(kind="magic")
    assert "limit" in errors(limit=0)
    assert "dataset" in errors(dataset=make_dataset())
    assert "base" in errors(kind="causal", base="")
    start_training(**arguments)
    assert "already" in errors()["name"][0]
    assert TrainedModel.objects.count() == Job.objects.count() == 1


def test_only_admins_of_the_project_may_train(dataset, tmp_path, model_root) -> None:
    annotator = make_user("annotator", dataset.project)
    asked = {"dataset": dataset, "kind": "seq2seq", "name": "x", "publish": False}
    asked["base"] = base_of(model_root, "seq2seq")  # people name none outside of it
    with pytest.raises(PermissionDenied):
        start_training(user=annotator, **asked)
    admin = make_user("admin", dataset.project)
    assert start_training(user=admin, **asked).created_by == admin


@pytest.mark.parametrize("base", ["nope", "./nothing", "/nowhere", "embedded:nope"])
def test_a_base_that_nobody_has_is_refused_and_not_queued(dataset, base) -> None:
    for command, kind in (("train_planner", "seq2seq"), ("train_ranker", "cross_encoder")):
        with pytest.raises(CommandError, match=r"there is no (embedded )?model"):
            call_command(command, dataset.name, kind=kind, name="x", base=base)
    assert not TrainedModel.objects.exists()
    assert not Job.objects.exists()


def test_layers_that_share_their_weights_with_the_embeddings_are_refused_at_the_start(dataset, tmp_path) -> None:
    with pytest.raises(ValidationError, match="lora_targets names lm_head, which shares its weights") as refused:
        start(dataset, tmp_path, "causal", adapter="lora", lora_targets="q_proj,lm_head")
    assert refused.value.message_dict.keys() == {"settings"}
    assert not Job.objects.exists()
    assert start(dataset, tmp_path, "causal", adapter="lora", lora_targets="q_proj").pk


@first_is_quick(
    ("adapter", "said"),
    [
        ({"adapter": "lora", "lora_targets": "wq"}, "lora_targets names wq; the model has "),
        ({"adapter": "qlora"}, "adapter=qlora keeps the weights in 4 bits, which needs a CUDA device"),
    ],
)
def test_what_only_the_loaded_base_tells_is_told_before_samples_are_read(
    adapter, said, dataset, tmp_path, monkeypatch
) -> None:
    if adapter["adapter"] == "qlora" and torch.cuda.is_available():
        pytest.skip("this machine keeps weights in 4 bits")

    def reading(*told: Any) -> None:
        raise ValueError("samples are read")

    model = start(dataset, tmp_path, "seq2seq", **adapter)
    monkeypatch.setattr(Work, "_samples", reading)
    job = run_inline(model)
    assert job.state == "failed"
    assert job.last_error.startswith(said)


def gone(dataset, tmp_path, kind: str) -> TrainedModel:
    """A training whose base was there when it was queued."""
    model = start(dataset, tmp_path / "gone", kind, "x")
    shutil.rmtree(model.base)
    return model


def test_missing_weights_fail_the_job_with_one_line_of_advice(dataset, tmp_path) -> None:
    model = gone(dataset, tmp_path, "seq2seq")
    job = run_inline(model)
    assert job.state == "failed"
    assert "give --base a folder" in job.last_error
    assert "\n" not in job.last_error
    model.refresh_from_db()
    assert not model.ready


@pytest.mark.slow
def test_a_training_that_failed_before_it_began_does_not_keep_its_name(dataset, tmp_path) -> None:
    failed = gone(dataset, tmp_path, "cross_encoder")
    with pytest.raises(ValidationError, match="already"):
        start(dataset, tmp_path, "cross_encoder", "x")  # it may still be running
    run_inline(failed)
    with pytest.raises(ValidationError, match="already"):
        start(make_conversation().dataset, tmp_path, "cross_encoder", "x")  # another project's
    again = start(dataset, tmp_path, "cross_encoder", "x")
    assert run_inline(again).state == "done"
    with pytest.raises(ValidationError, match="already"):
        start(dataset, tmp_path, "cross_encoder", "x")
    assert list(TrainedModel.objects.values_list("pk", "ready")) == [(again.pk, True)]


@pytest.mark.slow
def test_the_ranker_command_trains_and_prints_one_line_of_json(dataset, tmp_path, capsys) -> None:
    base = str(tiny_encoder(tmp_path / "base", TEXTS, layers=1, width=32))
    call_command(
        "train_ranker",
        dataset.name,
        kind="dual_encoder",
        base=base,
        name="ranker",
        seed=7,
        epochs=2,
        changes=["learning_rate=0.001"],
        inline=True,
        json=True,
    )
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert "running: reading, " in captured.err
    assert (result["model"], result["seed"], result["split"]) == ("ranker", 7, "train")
    assert result["metrics"]["dev_recall@5"] == 1.0
    model = TrainedModel.objects.get(name="ranker")
    assert (model.config["epochs"], model.config["seed"]) == (2, 7)


@pytest.mark.slow
def test_a_training_starts_from_the_base_that_its_recipe_names(dataset, tmp_path, capsys) -> None:
    """Also where the recipe names a model that is there already."""
    base, other = (str(tiny_encoder(tmp_path / name, TEXTS, layers=1, width=32)) for name in ("base", "other"))
    asked: dict[str, Any] = {"changes": [f"rank.base={base}", "epochs=1"], "inline": True, "json": True}
    for recipe in ("dmr-minilm", "dmr-gte"):
        call_command("train_ranker", dataset.name, recipe=recipe, name=f"of-{recipe}", **asked)
        assert TrainedModel.objects.get(name=f"of-{recipe}").base == base
        assert json.loads(capsys.readouterr().out)["base"] == base
    with pytest.raises(CommandError, match=r"--base and rank\.base both name what to start from"):
        call_command("train_ranker", dataset.name, recipe="dmr-gte", name="x", base=other, **asked)
    with pytest.raises(CommandError, match=r"rank\.base is what another model is trained from: .* train_ranker"):
        call_command("train_planner", dataset.name, recipe="self-map", name="x", **asked)
    said: dict[str, Any] = {"user": None, "dataset": dataset, "publish": False}
    made = start_training(kind="dual_encoder", name="minilm", recipe=literature.get("dmr-minilm"), **said)
    assert weights.find(made.base) == weights.find(MINILM)
    with pytest.raises(ValidationError, match="thenlper/gte-base"):
        start_training(kind="dual_encoder", name="gte", recipe=literature.get("dmr-gte"), **said)


def test_the_planner_command_says_what_is_wrong(dataset) -> None:
    with pytest.raises(CommandError, match="there is no dataset 'nowhere'"):
        call_command("train_planner", "nowhere", kind="seq2seq", name="x")
    with pytest.raises(CommandError, match="other data for multichoice"):
        call_command("train_planner", dataset.name, kind="seq2seq", name="x", paradigm="action_string")
