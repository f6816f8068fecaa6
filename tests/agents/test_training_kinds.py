"""Trainings on real rows of other kinds: WebLINX demonstrations, and the planner `grounded`."""

import json
from pathlib import Path

import pytest
import torch

from agents.encoders import weights
from agents.models import TrainedModel
from agents.training.jobs import run_inline, start_training
from agents.training.samples.pairs import Lines
from agents.training.samples.rows import RankingRows, SplitRows
from agents.training.settings import make_settings
from annotations.corpus.importing import import_files
from annotations.jobs import running
from annotations.models import Conversation, Dataset
from tests.agents.training_world import weblinx_demonstrations
from tests.factories import make_conversation, make_dataset
from tests.tiny_models import tiny_encoder, tiny_t5

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TEXTS = ["[[tag]] button [[xpath]] /html/body Viewport(height=1, width=2) click(uid='a') say(speaker='navigator')"]
QUICK = {"epochs": 1, "learning_rate": "0.001", "mixed_precision": "no", "dev_examples": 2}


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


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory) -> Path:
    return weblinx_demonstrations(tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out"))


@pytest.fixture
def weblinx(demonstrations) -> Dataset:
    """Two demonstrations to train on, and one to measure."""
    dataset = make_dataset(source_format="weblinx")
    assert import_files("weblinx", demonstrations, dataset).error_count == 0
    for place, conversation in enumerate(dataset.conversations.order_by("position")):
        Conversation.objects.filter(pk=conversation.pk).update(split="dev" if place == 0 else "train")
    assert dataset.conversations.filter(split="train").exists()
    return dataset


def trained(model: TrainedModel) -> TrainedModel:
    job = run_inline(model)
    assert (job.state, job.last_error) == ("done", "")
    model.refresh_from_db()
    assert weights.find(model.name) == model.folder
    return model


def test_a_dual_encoder_trains_on_weblinx_documents(weblinx, tmp_path) -> None:
    rows = RankingRows(SplitRows(weblinx, "train"), make_settings("dual_encoder", {}))
    (step, *_) = rows.first(1)
    assert step.query.startswith("Viewport(height=")
    assert step.positives[0].startswith("[[tag]] ")
    base = str(tiny_encoder(tmp_path / "base", TEXTS, layers=1, width=32))
    model = start_training(
        user=None, dataset=weblinx, kind="dual_encoder", name="dmr", base=base, changes=QUICK, publish=False
    )
    assert trained(model).metrics["dev_recall@50"] > 0


def test_an_action_string_planner_trains_on_the_prompts_of_its_recipe(weblinx, tmp_path, monkeypatch) -> None:
    base = str(tiny_t5(tmp_path / "base", TEXTS, layers=1, width=32, vocabulary=400))
    ranker = str(tiny_encoder(tmp_path / "ranker", TEXTS, layers=1, width=32))
    kept: list[dict] = []
    unlink = Path.unlink

    def read_first(path: Path, **options) -> None:
        if path.name == "turns.jsonl":
            lines = Lines(path)
            kept.extend(lines.get(range(len(lines))))
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", read_first)
    changes = QUICK | {"paradigm": "action_string", "ranker": ranker, "max_new_tokens": 3, "max_length": 512}
    model = start_training(
        user=None, dataset=weblinx, kind="seq2seq", name="act", base=base, changes=changes, publish=False
    )
    assert trained(model).metrics["examples"] == len(kept) > 0
    assert all(0 < len(line["prompt"]) <= 512 for line in kept)
    assert {line["answer"].partition("(")[0] for line in kept} >= {"click", "say"}


def test_the_grounded_planner_trains_and_is_loaded(monkeypatch) -> None:
    dataset = make_dataset()
    for split in ("train", "train", "dev"):
        make_conversation(turns=2, steps=3, dataset=dataset, split=split)
    model = start_training(
        user=None, dataset=dataset, kind="grounded", name="small", changes={"epochs": 2}, seed=3, publish=False
    )
    trained(model)
    assert model.seed == 3
    assert model.metrics["examples"] == 12
    assert any(name.startswith("dev_") for name in model.metrics)
    assert [point["step"] for point in model.curve] == [1, 2]
    names = {path.name for path in model.folder.iterdir()}
    assert {"model.safetensors", "config.json", "training.json", "metrics.json", "README.md"} <= names
    assert json.loads((model.folder / "training.json").read_text())["kind"] == "grounded"
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    cut = start_training(
        user=None, dataset=dataset, kind="grounded", name="cut", changes={"epochs": 2}, seed=3, publish=False
    )
    trained(cut)
    files = [found.folder / "model.safetensors" for found in (model, cut)]
    assert files[0].read_bytes() == files[1].read_bytes()
