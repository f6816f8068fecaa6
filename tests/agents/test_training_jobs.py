"""Trainings as jobs: started, sliced, told, ended in one folder that recipes can load; and their commands."""

import json
import shutil

import pytest
import torch
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from agents.encoders import weights
from agents.models import TrainedModel
from agents.runs.building import build_training
from agents.training import rows as training_rows
from agents.training.jobs import run_inline, start_training
from agents.training.rows import SplitRows, StepRows, as_set
from agents.training.settings import make_settings
from annotations.jobs import running
from annotations.models import Job
from tests.factories import PAGE, make_conversation, make_dataset, make_user
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


def start(dataset, tmp_path, kind: str, name: str = "first", **changes) -> TrainedModel:
    base = str(MAKERS[kind](tmp_path / f"base-{kind}", TEXTS, layers=1, width=32))
    changes = QUICK | (PLANNER if kind in ("seq2seq", "causal") else {}) | changes
    return start_training(user=None, dataset=dataset, kind=kind, name=name, base=base, changes=changes, publish=False)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_training_ends_in_one_folder_with_everything(dataset, tmp_path, kind) -> None:
    model = start(dataset, tmp_path, kind)
    job = run_inline(model)
    assert (job.state, job.last_error) == ("done", "")
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


def test_a_training_does_not_go_on_from_what_another_of_its_name_left(dataset, tmp_path, monkeypatch) -> None:
    model = start(dataset, tmp_path, "seq2seq", epochs=2)
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    run_inline(model, lambda: model.job.cancel())
    monkeypatch.setattr(running, "SLICE_SECONDS", 240)
    assert (model.folder / "work" / "checkpoint.pt").exists()
    model.delete()
    assert run_inline(start(dataset, tmp_path, "seq2seq", epochs=1, learning_rate=0.5)).state == "done"


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


def test_what_is_wrong_is_said_before_anything_is_queued(dataset) -> None:
    def errors(**fields) -> dict:
        arguments = {"user": None, "dataset": dataset, "kind": "seq2seq", "name": "fine", "publish": False}
        with pytest.raises(ValidationError) as error:
            start_training(**arguments | fields)
        return error.value.message_dict

    assert "there is no setting 'lr'" in errors(changes={"lr": 1})["settings"][0]
    assert "paradigm" in errors(changes={"paradigm": "action_string"})
    assert "name" in errors(name="not a name!")
    assert "kind" in errors(kind="magic")
    assert "limit" in errors(limit=0)
    assert "dataset" in errors(dataset=make_dataset())
    assert "base" in errors(kind="causal")
    start_training(user=None, dataset=dataset, kind="seq2seq", name="fine", publish=False)
    assert "already" in errors()["name"][0]
    assert TrainedModel.objects.count() == Job.objects.count() == 1


def test_only_admins_of_the_project_may_train(dataset) -> None:
    annotator = make_user("annotator", dataset.project)
    with pytest.raises(PermissionDenied):
        start_training(user=annotator, dataset=dataset, kind="seq2seq", name="x", publish=False)
    admin = make_user("admin", dataset.project)
    assert start_training(user=admin, dataset=dataset, kind="seq2seq", name="x", publish=False).created_by == admin


@pytest.mark.parametrize("base", ["nope", "./nothing", "/nowhere", "embedded:nope"])
def test_a_base_that_nobody_has_is_refused_and_not_queued(dataset, base) -> None:
    for command, kind in (("train_planner", "seq2seq"), ("train_ranker", "cross_encoder")):
        with pytest.raises(CommandError, match=r"there is no (embedded )?model"):
            call_command(command, dataset.name, kind=kind, name="x", base=base)
    assert not TrainedModel.objects.exists()
    assert not Job.objects.exists()


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


def test_the_planner_command_says_what_is_wrong(dataset) -> None:
    with pytest.raises(CommandError, match="there is no dataset 'nowhere'"):
        call_command("train_planner", "nowhere", kind="seq2seq", name="x")
    with pytest.raises(CommandError, match="other data for multichoice"):
        call_command("train_planner", dataset.name, kind="seq2seq", name="x", paradigm="action_string")
