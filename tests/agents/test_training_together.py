"""One training in several processes, as on several devices: the steps of one process, checkpoints of the first."""

import sys

import pytest
import torch

from agents.training.fit import loop
from agents.training.fit.loop import TrainingError, train
from agents.training.fit.together import together
from agents.training.settings import make_settings
from tests.agents.test_training_loop import ROOT, SMALL, assert_same, make_base, make_task, weights

pytestmark = pytest.mark.slow
PLAIN = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
from agents.training.fit import loop
from agents.training.fit.together import joined
from tests.agents.test_training_together import CHANGES, SMALL, make_settings, make_task, plain_steps
loop._optimizer = plain_steps
settings = make_settings("seq2seq", SMALL | CHANGES)
with joined():
    loop.train(make_task(sys.argv[1], settings, count=10), settings, Path(sys.argv[2]))
"""
# Ten examples a step: 3 + 3 in one process, 3 + 1 in the other.
CHANGES = {"batch_size": 5, "devices": 2, "epochs": 2, "learning_rate": 0.1}


def plain_steps(model, settings):
    """Without Adam, whose first steps depend on the sign of the smallest gradients."""
    return torch.optim.SGD(model.parameters())


def test_two_processes_make_the_steps_of_one(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(loop, "_optimizer", plain_steps)
    monkeypatch.chdir(ROOT)
    base, settings = make_base(tmp_path / "base", dropout=0.0), make_settings("seq2seq", SMALL | CHANGES)
    ends, curves = [], []
    for count in (1, 2):
        folder, told = tmp_path / str(count), []
        task = make_task(base, settings, count=10)
        before = weights(task)
        with together(count, [sys.executable, "-c", PLAIN, base, str(folder)]):
            train(task, settings, folder, tell=told.append)
        ends.append(weights(task))
        curves.append([point["loss"] for point in told[-1].curve])
        assert [path.name for path in folder.iterdir()] == ["checkpoint.pt"]
    assert_same(*ends, rtol=1e-4, atol=1e-5)
    assert curves[0] == pytest.approx(curves[1], abs=2e-6)
    assert len(curves[0]) == 2
    assert max((before[name] - ends[0][name]).abs().max() for name in before) > 1e-3


def test_a_process_that_fails_ends_the_training_with_its_words(tmp_path, monkeypatch) -> None:
    """Before the others wait for it, and in the middle of a step."""
    monkeypatch.chdir(ROOT)
    base, settings = make_base(tmp_path / "base"), make_settings("seq2seq", SMALL | {"devices": 2})
    ends = "sys.exit('no room on this device')"
    breaks = f"loop._Loop._step = lambda *_: {ends}\n"
    for command in (f"import sys\n{ends}", PLAIN.replace("with joined", f"{breaks}with joined")):
        with (
            pytest.raises(TrainingError, match=r"process 2 of the training ended \(1\): no room"),
            together(2, [sys.executable, "-c", command, base, str(tmp_path)]),
        ):
            train(make_task(base, settings), settings, tmp_path)
