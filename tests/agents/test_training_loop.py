"""The training loop: resumed exactly, equal however a step is cut, clear about what went wrong."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from agents.training.fit import loop
from agents.training.fit.checkpoint import FILE, load_checkpoint, save_checkpoint
from agents.training.fit.loop import TrainingError, TrainingProgress, train
from agents.training.fit.weights import load_tokenizer
from agents.training.kinds.language import Seq2SeqTask
from agents.training.settings import PlannerSettings, make_settings
from tests.agents.training_world import TextSamples, text_pairs
from tests.tiny_models import tiny_t5

ROOT = Path(__file__).resolve().parent.parent.parent
SMALL = {"epochs": 3, "batch_size": 4, "learning_rate": 3e-3, "max_length": 128, "mixed_precision": "no"}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_base(folder: Path, dropout: float = 0.1) -> str:
    texts = [text for pair in text_pairs() for text in (pair.prompt, pair.answer)]
    return str(tiny_t5(folder, texts, width=32, layers=1, vocabulary=320, dropout=dropout))


@pytest.fixture
def base(tmp_path) -> str:
    return make_base(tmp_path / "base")


def make_task(base: str, settings: PlannerSettings, count: int = 20) -> Seq2SeqTask:
    tokenizer = load_tokenizer(base)
    return Seq2SeqTask(base, tokenizer, settings, TextSamples(text_pairs(count), tokenizer, 128))


def weights(task) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in task.model.state_dict().items()}


def assert_same(one: dict, other: dict, **tolerance: float) -> None:
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], **({"rtol": 0, "atol": 0} | tolerance))


@pytest.mark.slow
def test_a_training_paused_after_every_step_ends_with_the_same_weights_and_curve(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL)
    told: dict[str, TrainingProgress] = {}
    whole = make_task(base, settings)
    assert train(whole, settings, tmp_path / "whole", tell=lambda p: told.update(whole=p)) == "done"
    slices = 0
    while True:
        task = make_task(base, settings)
        slices += 1
        state = train(task, settings, tmp_path / "cut", until=lambda: True, tell=lambda p: told.update(cut=p))
        if state == "done":
            break
    assert slices == 15  # 20 examples in batches of 4, three times
    assert_same(weights(whole), weights(task))
    assert told["cut"].curve == told["whole"].curve
    assert [point["step"] for point in told["cut"].curve] == list(range(1, 16))
    assert told["cut"].curve[-1]["loss"] < told["cut"].curve[0]["loss"]


@pytest.mark.slow
def test_accumulated_batches_give_the_step_of_one_large_batch(tmp_path, monkeypatch) -> None:
    """Also where the last batch is short and answers differ in length. With plain gradient steps: Adam's first ones
    depend on the sign of the smallest gradients."""
    monkeypatch.setattr(loop, "_optimizer", lambda model, settings: torch.optim.SGD(model.parameters()))
    base = make_base(tmp_path / "base", dropout=0.0)
    ends = []
    for name, (size, accumulate) in {"one": (10, 1), "many": (3, 4)}.items():  # 10 examples a step, or 3 + 3 + 3 + 1
        changes = {"batch_size": size, "accumulate": accumulate, "epochs": 2, "learning_rate": 0.1}
        settings = make_settings("seq2seq", SMALL | changes)
        task = make_task(base, settings, count=10)
        before = weights(task)
        train(task, settings, tmp_path / name)
        ends.append(weights(task))
    assert_same(*ends, rtol=1e-4, atol=1e-5)
    assert max((before[name] - ends[0][name]).abs().max() for name in before) > 1e-3


KILLED = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
from agents.training.settings import make_settings
from agents.training.fit.loop import train
from tests.agents.test_training_loop import SMALL, make_task
base, folder = sys.argv[1:]
settings = make_settings("seq2seq", SMALL | {"epochs": 12, "checkpoint_seconds": 0})
task = make_task(base, settings)
print(train(task, settings, Path(folder)), flush=True)
torch.save(task.model.state_dict(), Path(folder) / "end.pt")
"""


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_weights_of_an_undisturbed_one(base, tmp_path) -> None:
    def start(folder: Path) -> subprocess.Popen:
        folder.mkdir(exist_ok=True)
        return subprocess.Popen([sys.executable, "-c", KILLED, base, str(folder)], cwd=ROOT, stderr=subprocess.DEVNULL)

    quiet, killed = start(tmp_path / "quiet"), start(tmp_path / "killed")
    deadline = time.monotonic() + 120
    while (state := load_checkpoint(tmp_path / "killed")) is None or state["step"] < 10:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    reached = load_checkpoint(tmp_path / "killed")["step"]
    assert 10 <= reached < 60
    assert start(tmp_path / "killed").wait(120) == 0
    assert quiet.wait(120) == 0
    ends = [torch.load(tmp_path / name / "end.pt", weights_only=True) for name in ("quiet", "killed")]
    assert_same(*ends)


def test_a_checkpoint_that_could_not_be_finished_leaves_the_old_one(tmp_path) -> None:
    save_checkpoint(tmp_path, {"step": 1})
    with pytest.raises(Exception, match=r"pickle|local object"):
        save_checkpoint(tmp_path, {"step": lambda: 2})
    assert load_checkpoint(tmp_path) == {"step": 1}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_other_data_or_settings_do_not_go_on_from_a_checkpoint(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL)
    train(make_task(base, settings), settings, tmp_path, identity="data 1", until=lambda: True)
    with pytest.raises(TrainingError, match="start it anew"):
        train(make_task(base, settings), settings, tmp_path, identity="data 2")


def test_a_loss_that_is_not_a_number_ends_the_training_with_advice(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL)
    task = make_task(base, settings)
    task.loss = lambda model, batch: model(**batch).loss * float("nan")
    with pytest.raises(TrainingError, match="smaller learning_rate"):
        train(task, settings, tmp_path)


def test_a_full_device_ends_the_training_with_advice(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL)
    task = make_task(base, settings)

    def full(model, batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    task.loss = full
    with pytest.raises(TrainingError, match="smaller batch_size"):
        train(task, settings, tmp_path)


def test_what_tell_raises_ends_the_training_and_writes_nothing(base, tmp_path) -> None:
    def gone(progress: TrainingProgress) -> None:
        raise RuntimeError("the lease is lost")

    settings = make_settings("seq2seq", SMALL)
    with pytest.raises(RuntimeError, match="lease"):
        train(make_task(base, settings), settings, tmp_path, tell=gone)
    assert list(tmp_path.glob(f"{FILE}*")) == []


@pytest.mark.slow
def test_the_learning_rate_warms_up_and_decays_as_published(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL | {"warmup_epochs": 0.5, "epochs": 2, "learning_rate": 0.01})
    told = []
    train(make_task(base, settings), settings, tmp_path, tell=told.append)
    rates = [point["learning_rate"] for point in told[-1].curve]  # 5 steps an epoch, int(2.5) of them warm-up
    assert rates == pytest.approx([0.0, 0.005, *(0.01 * left / 8 for left in range(8, 0, -1))])


@pytest.mark.slow
def test_bf16_trains_on_a_cpu_and_fp16_says_that_it_cannot(base, tmp_path) -> None:
    settings = make_settings("seq2seq", SMALL | {"mixed_precision": "bf16"})
    assert train(make_task(base, settings), settings, tmp_path / "bf16") == "done"
    with pytest.raises(ValueError, match="needs a GPU"):
        make_settings("seq2seq", {"mixed_precision": "fp16"}).precision(on_gpu=False)


def test_settings_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="there is no setting 'lr'"):
        make_settings("seq2seq", {"lr": "1"})
    with pytest.raises(ValueError, match="epochs must be int"):
        make_settings("seq2seq", {"epochs": "many"})
    with pytest.raises(ValueError, match="paradigm must be one of"):
        make_settings("causal", {"paradigm": "magic"})


def test_the_published_constants_are_the_defaults() -> None:
    cross, dual, planner = (make_settings(kind, {}) for kind in ("cross_encoder", "dual_encoder", "seq2seq"))
    assert (cross.epochs, cross.batch_size, cross.learning_rate, cross.weight_decay) == (5, 32, 3e-5, 0.01)
    assert (cross.warmup_epochs, cross.neg_ratio, cross.max_grad_norm, cross.precision(True)) == (0.5, 5, 1.0, "fp16")
    assert (dual.epochs, dual.batch_size, dual.learning_rate, dual.weight_decay) == (10, 64, 3e-5, 0.0)
    assert (dual.warmup_steps, dual.max_negatives, dual.seed, dual.precision(True)) == (500, 9, 123, "no")
    assert (planner.epochs, planner.learning_rate, planner.warmup_steps, planner.repeats) == (5, 5e-5, 0, 10)
    assert (planner.max_length, planner.precision(True), planner.tf32) == (2048, "bf16", True)
