"""One training loop for every kind of model: resumable, in mixed precision, on one or several devices. Core.

What happens in an optimizer step depends on its number, the seed and the weights alone: the order of the examples and
the random numbers of dropout are derived from them. So a training that was killed and goes on from its last
checkpoint ends with the weights of one that was never disturbed.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from agents.training.fit.checkpoint import load_checkpoint, save_checkpoint
from agents.training.settings import LoopSettings

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

TELL_SECONDS = 1.0
WAIT = timedelta(hours=1)  # of a process for the others, at most


class TrainingError(ValueError):
    """A training cannot go on; the message says what to change."""


class TrainingTask(Protocol):
    """A model, its examples and their loss."""

    model: "PreTrainedModel"
    size: int  # examples of an epoch

    def batch(self, epoch: int, indices: Sequence[int]) -> dict[str, "torch.Tensor"]:
        """The tensors of some examples of an epoch, on the CPU; depends on the arguments alone."""
        ...

    def weight(self, batch: dict[str, "torch.Tensor"]) -> float:
        """The weight of a batch's mean loss in its optimizer step: the number of examples, or of answers' tokens."""
        ...

    def loss(self, model: "torch.nn.Module", batch: dict[str, "torch.Tensor"]) -> "torch.Tensor":
        """The mean loss of a batch, a scalar."""
        ...

    def evaluate(self, model: "PreTrainedModel") -> dict[str, float]:
        """Metrics on the dev examples; {} without any."""
        ...

    def save(self, folder: Path) -> None:
        """Save the weights, and the tokenizer that they are used with."""
        ...


@dataclass
class TrainingProgress:
    """How far a training is. `curve` has one object per point: step, epoch, loss, learning_rate, and dev metrics."""

    steps: int
    step: int = 0
    epoch: float = 0.0
    loss: float | None = None  # mean since the last point of the curve
    seconds_per_step: float | None = None
    curve: list[dict[str, float]] = field(default_factory=list)


def train(
    task: TrainingTask,
    settings: LoopSettings,
    folder: Path,
    *,
    identity: str = "",
    until: Callable[[], bool] = lambda: False,
    tell: Callable[[TrainingProgress], None] = lambda progress: None,
    saved: Callable[[], None] = lambda: None,
) -> Literal["paused", "done"]:
    """Train until the end, or until `until()` says to pause; the task's model then has the weights reached.

    Goes on from the checkpoint in `folder` where there is one of the same settings and `identity` (of the data). At
    least one step is made per call. `tell` is called about once a second, by the main process, and `saved` after each
    checkpoint; what they raise ends the training. Raises TrainingError.
    """
    import torch

    loop = _Loop(task, settings, folder, identity, tell, saved)
    try:
        return loop.run(until)
    except torch.OutOfMemoryError as error:
        raise TrainingError(
            f"the device's memory is too small for batch_size={settings.batch_size}: set a smaller batch_size and "
            f"accumulate={2 * settings.accumulate} or more, or gradient_checkpointing=true"
        ) from error


class _Loop:
    def __init__(
        self,
        task: TrainingTask,
        settings: LoopSettings,
        folder: Path,
        identity: str,
        tell: Callable[[TrainingProgress], None],
        saved: Callable[[], None],
    ) -> None:
        import torch

        if task.size < 1:
            raise TrainingError("there is nothing to train on")
        self.task, self.settings, self.folder, self.tell, self.saved = task, settings, folder, tell, saved
        self.accelerator = _accelerator(settings)
        torch.backends.cuda.matmul.allow_tf32 = settings.tf32
        if settings.gradient_checkpointing:
            task.model.activation_checkpointing_enable()
        self.model, self.optimizer = self.accelerator.prepare(task.model, _optimizer(task.model, settings))
        self.per_step = settings.batch_size * settings.accumulate * settings.devices
        self.steps_per_epoch = math.ceil(task.size / self.per_step)
        self.progress = TrainingProgress(self.steps_per_epoch * settings.epochs)
        self.points_every = max(1, self.progress.steps // settings.report_points)
        self.identity = f"{identity} {settings} {task.size} {self.per_step}"
        self.losses: list[float] = []  # since the last point of the curve
        self.order: tuple[int, np.ndarray] = (-1, np.zeros(0, dtype=np.int64))
        self._resume()

    def run(self, until: Callable[[], bool]) -> Literal["paused", "done"]:
        progress, saved, told = self.progress, time.monotonic(), 0.0
        while progress.step < progress.steps:
            begun = time.monotonic()
            self.losses.append(self._step(progress.step))
            progress.step += 1
            progress.epoch = progress.step / self.steps_per_epoch
            progress.loss = sum(self.losses) / len(self.losses)
            now = time.monotonic()
            progress.seconds_per_step = max(now - begun, 1e-9)
            self._mark_point()
            if self.accelerator.is_main_process and now - told > TELL_SECONDS:
                self.tell(progress)
                told = now
            pause = self._agreed(until())
            if pause or progress.step == progress.steps or now - saved > self.settings.checkpoint_seconds:
                self._save()
                saved = now
            if pause and progress.step < progress.steps:
                return "paused"
        self.accelerator.free_memory()
        return "done"

    def _step(self, step: int) -> float:
        """Make the optimizer step with this number, on the examples that belong to it; the mean loss."""
        import torch

        rank = self.accelerator.process_index
        torch.manual_seed((self.settings.seed * 1_000_003 + step) * 64 + rank)  # for dropout
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate(step)
        self.model.train()
        batches, weights = self._batches(step)
        total = self._summed(sum(weights))
        # Each batch counts by its weight in the whole step, over all devices, whose gradients are averaged: so the
        # same examples give the same gradient however they are cut into batches. accelerate's own accumulation would
        # count a short last batch as much as a full one.
        scale = self.accelerator.num_processes / total
        loss = torch.zeros((), device=self.accelerator.device)
        for place, (batch, weight) in enumerate(zip(batches, weights, strict=True)):
            last = place == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.model):
                loss = loss + self._backward(batch, weight * scale)
        value: float = self._summed(float(loss)) / self.accelerator.num_processes
        if not math.isfinite(value):
            raise TrainingError(f"the loss became {value} at step {step + 1}: set a smaller learning_rate")
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return value

    def _backward(self, batch: dict[str, "torch.Tensor"], scale: float) -> "torch.Tensor":
        with self.accelerator.autocast():
            loss = self.task.loss(self.model, {k: v.to(self.accelerator.device) for k, v in batch.items()}) * scale
        self.accelerator.backward(loss)
        return loss.detach().float()

    def _batches(self, step: int) -> tuple[list[dict[str, "torch.Tensor"]], list[float]]:
        """This process's batches of an optimizer step and what each counts for.

        Every process has the same number of them, or they would wait for each other: one without examples left
        takes the step's first again and counts it for nothing.
        """
        epoch, place = divmod(step, self.steps_per_epoch)
        if self.order[0] != epoch:
            self.order = epoch, np.random.default_rng([self.settings.seed, epoch]).permutation(self.task.size)
        whole = self.order[1][place * self.per_step : (place + 1) * self.per_step].tolist()
        processes, size = self.accelerator.num_processes, self.settings.batch_size
        own = whole[self.accelerator.process_index :: processes]
        chosen = [own[start : start + size] for start in range(0, math.ceil(len(whole) / processes), size)]
        batches = [self.task.batch(epoch, indices or whole[:1]) for indices in chosen]
        weights = [self.task.weight(b) if indices else 0.0 for b, indices in zip(batches, chosen, strict=True)]
        return batches, weights

    def _rate(self, step: int) -> float:
        """The learning rate of a step: linear warm-up, then linear decay to 0 at the end."""
        warmup = self.settings.warmup_steps + int(self.settings.warmup_epochs * self.steps_per_epoch)
        if step < warmup:
            return self.settings.learning_rate * step / warmup
        left = self.progress.steps - step
        return self.settings.learning_rate * left / max(1, self.progress.steps - warmup)

    def _mark_point(self) -> None:
        progress = self.progress
        ends_epoch = progress.step % self.steps_per_epoch == 0
        if not ends_epoch and progress.step % self.points_every:
            return
        point = {
            "step": progress.step,
            "epoch": round(progress.epoch, 4),
            "loss": round(progress.loss or 0.0, 6),
            "learning_rate": self._rate(progress.step - 1),
        }
        if ends_epoch and self.accelerator.is_main_process:
            self.task.model.eval()
            point |= {name: round(value, 6) for name, value in self.task.evaluate(self.task.model).items()}
        progress.curve.append(point)
        self.losses = []

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            self.tell(self.progress)  # raises when the work is no longer ours: then nothing may be written
            scaler = self.accelerator.scaler
            state = {
                "identity": self.identity,
                "step": self.progress.step,
                "curve": self.progress.curve,
                "losses": self.losses,
                "model": _trained_state(self.task.model),
                "optimizer": self.optimizer.state_dict(),
                "scaler": scaler.state_dict() if scaler else None,
            }
            save_checkpoint(self.folder, state)
            self.saved()
        self.accelerator.wait_for_everyone()

    def _resume(self) -> None:
        state = load_checkpoint(self.folder)
        if state is None:
            return
        if state["identity"] != self.identity:
            raise TrainingError("the data or the settings have changed since the training began: start it anew")
        self.task.model.load_state_dict(state["model"], strict=not _frozen(self.task.model))
        self.optimizer.load_state_dict(state["optimizer"])
        if self.accelerator.scaler and state["scaler"]:
            self.accelerator.scaler.load_state_dict(state["scaler"])
        self.progress.step, self.progress.curve, self.losses = state["step"], state["curve"], state["losses"]
        self.progress.epoch = self.progress.step / self.steps_per_epoch

    def _summed(self, value: float) -> float:
        import torch

        if self.accelerator.num_processes == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64, device=self.accelerator.device)
        return float(self.accelerator.reduce(tensor, "sum"))

    def _agreed(self, flag: bool) -> bool:
        """The main process's flag, in every process."""
        main = self.accelerator.is_main_process
        return flag if self.accelerator.num_processes == 1 else self._summed(float(flag and main)) > 0


def _frozen(model: "torch.nn.Module") -> set[str]:
    """The names of weights that are not trained; of a shared weight all names."""
    named = model.named_parameters(remove_duplicate=False)
    return {name for name, parameter in named if not parameter.requires_grad}


def _trained_state(model: "torch.nn.Module") -> dict[str, "torch.Tensor"]:
    """The weights that training changes. With an adapter none of its base is among them."""
    frozen = _frozen(model)
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


def _accelerator(settings: LoopSettings) -> Any:
    import torch
    from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs
    from accelerate.state import AcceleratorState

    # A worker's process makes several trainings, and accelerate keeps the first one's precision and processes.
    AcceleratorState._reset_state(reset_partial_state=True)
    on_gpu = torch.cuda.is_available()
    # Some encoders have a layer that no loss reaches; the others wait while the first process evaluates.
    several = [DistributedDataParallelKwargs(find_unused_parameters=True), InitProcessGroupKwargs(timeout=WAIT)]
    return Accelerator(mixed_precision=settings.precision(on_gpu), cpu=not on_gpu, kwargs_handlers=several)


def _optimizer(model: "torch.nn.Module", settings: LoopSettings) -> "torch.optim.Optimizer":
    """AdamW; biases and the weights of norms, which are vectors, do not decay."""
    import torch

    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=settings.learning_rate)
