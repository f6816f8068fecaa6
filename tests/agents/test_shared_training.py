"""Trainings and models on several hosts that share a storage; each host has its own folder of models and of scratch."""

import json
from pathlib import Path

import pytest
import torch
from django.db.models.functions import Now

from agents.cookbook.lacking import missing
from agents.encoders import weights
from agents.models import TrainedModel
from agents.recipes import literature
from agents.training.jobs import run_inline, start_training
from agents.training.placing import needs_of
from agents.training.trained.stored import StoredModel
from annotations.hosts.identity import host_id
from annotations.jobs import placement, running
from annotations.models import Job, Worker
from annotations.models.jobs.workers import ALIVE
from annotations.storage import store
from tests.agents.test_training_jobs import QUICK, TEXTS
from tests.factories import make_conversation, make_dataset
from tests.tiny_models import tiny_cross_encoder
from webnav_site import sharing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def on_host(tmp_path: Path, settings, monkeypatch):
    """`on_host("a")`: from now on this process is on that host, which shares a mounted folder with the others."""
    values = {"STORAGE_FOLDER": str(tmp_path / "mounted")}
    settings.STORAGES = settings.STORAGES | {
        "default": sharing.file_storage(lambda name, default="": values.get(name, default))
    }

    def move(name: str) -> Path:
        settings.VAR_DIR = tmp_path / name
        monkeypatch.setenv("MODEL_ROOT", str(tmp_path / name / "models"))
        return tmp_path / name

    return move


@pytest.fixture
def training(tmp_path: Path):
    dataset = make_dataset()
    for split in ("train", "train", "dev"):
        make_conversation(turns=1, steps=3, dataset=dataset, split=split)
    base = str(tiny_cross_encoder(tmp_path / "base", TEXTS, layers=1, width=32))

    def start(name: str, kind: str = "cross_encoder", **changes) -> TrainedModel:
        return start_training(
            user=None,
            dataset=dataset,
            kind=kind,
            name=name,
            base=base,
            publish=False,
            changes=QUICK | {"batch_size": 9} | changes,
        )

    return start


def train(model: TrainedModel, between=lambda: None) -> TrainedModel:
    job = run_inline(model, between)
    assert (job.state, job.last_error) == ("done", "")
    model.refresh_from_db()
    return model


def weights_of(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_training_that_goes_from_host_to_host_ends_with_the_same_weights(training, on_host, monkeypatch) -> None:
    on_host("alone")
    alone = weights_of(train(training("alone")).folder)
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    turns, reached = [], []
    model = training("moving")

    def move() -> None:
        turns.append(on_host("ab"[len(turns) % 2]))
        steps = Job.objects.get(pk=model.job_id).progress
        reached.append(steps["done"] if steps.get("unit") == "steps" else 0)

    move()
    train(model, move)
    assert len(turns) > 5
    assert reached == sorted(reached)  # no host began anew
    assert weights_of(model.folder) == alone
    assert model.checkpoint == {}
    assert list(store.names("checkpoints")) == []


@pytest.mark.slow
def test_a_model_trained_on_one_host_is_fetched_by_another(training, on_host) -> None:
    on_host("a")
    model = train(training("ranker"))
    there = weights_of(model.folder)
    on_host("b")
    assert weights.find("ranker") is None
    weights.check("ranker")  # a web host accepts it, and fetches nothing
    assert weights.find("ranker") is None
    fetched = weights.source("ranker")
    assert weights_of(fetched) == there
    assert weights.find("ranker") == fetched == weights.source("ranker")
    assert StoredModel(model).text("README.md", 10_000).startswith("---")
    assert json.loads((fetched / "training.json").read_text())["name"] == "ranker"


@pytest.mark.slow
def test_a_damaged_copy_is_refused_and_leaves_nothing(training, on_host, settings) -> None:
    on_host("a")
    model = train(training("ranker"))
    stored = Path(settings.STORAGES["default"]["OPTIONS"]["location"])
    file = next(stored.rglob("model.safetensors"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    on_host("b")
    with pytest.raises(OSError, match="damaged"):
        weights.source(model.name)
    assert weights.find(model.name) is None


def test_a_web_host_accepts_what_some_worker_holds(settings, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    recipe = literature.override(literature.get("deberta"), {"rank.model": "org/on-the-gpu-host"})
    assert "there is no model" in missing(recipe)[0]
    Worker.objects.tell("gpu", name="gpu", host="gpu-host", hostname="gpu", held=["org/on-the-gpu-host"])
    assert missing(recipe) == []
    Worker.objects.update(seen_at=Now() - ALIVE * 2)
    assert missing(recipe) != []


def worker(host: str, **fields) -> Worker:
    Worker.objects.tell(host, **{"name": host, "host": host, "hostname": host, "queues": ["gpu"]} | fields)
    return Worker.objects.get(owner=host)


def test_work_goes_to_the_host_that_holds_its_weights() -> None:
    worker(host_id(), held=["a"])
    worker("other", held=["a", "b"])
    assert placement.better_queue("gpu", placement.Needs(frozenset({"a"}))) is None
    assert placement.better_queue("gpu", placement.Needs(frozenset({"b"}))) == "gpu.other"
    assert placement.better_queue("gpu", placement.Needs(frozenset({"c"}))) is None  # here, to say what is missing


def test_work_goes_to_a_device_that_is_large_enough() -> None:
    worker(host_id(), gpus=[{"index": 0, "name": "small", "total_bytes": 8}], memory_bytes=1000)
    worker("large", gpus=[{"index": 0, "name": "large", "total_bytes": 80}], memory_bytes=10)
    assert placement.better_queue("gpu", placement.Needs(device_bytes=8)) is None
    assert placement.better_queue("gpu", placement.Needs(device_bytes=20)) == "gpu.large"


def test_a_worker_that_fell_silent_gets_no_work() -> None:
    worker(host_id())
    worker("other", held=["b"])
    Worker.objects.filter(host="other").update(seen_at=Now() - ALIVE * 2)
    assert placement.better_queue("gpu", placement.Needs(frozenset({"b"}))) is None


def test_without_shared_files_a_training_goes_on_where_its_checkpoint_is(training) -> None:
    worker(host_id())
    worker("other")
    job = training("ranker").job
    assert running.better_queue(job.pk) is None
    Job.objects.filter(pk=job.pk).update(progress={"done": 1}, lease_owner="box:7 other.boot.1.2")
    job.refresh_from_db()
    assert needs_of(job).host == "other"
    assert running.better_queue(job.pk) == "gpu.other"
