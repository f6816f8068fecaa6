"""Fit the network to arrays, epoch by epoch. Core."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from agents.learned.arrays import group_shares
from agents.learned.flat import Batch, Flat, batch
from agents.learned.network import Network, gold_loss
from agents.learned.settings import Settings

CLIP = 1.0


@dataclass
class FitState:
    """What is saved so that a training can go on: the network, its optimizer, how many epochs are done, and of the
    next one the losses of its batches so far and where chance stood then."""

    network: Network
    optimizer: torch.optim.Optimizer
    epoch: int = 0  # epochs done
    losses: list[float] = field(default_factory=list)
    chance: torch.Tensor | None = None


def begin(network: Network, flat: Flat, settings: Settings) -> FitState:
    """The state before the first epoch: the network scales columns by their mean and spread in `flat`; the optimizer is
    new."""
    values = torch.from_numpy(flat.columns.astype(np.float32))
    network.mean.copy_(values.mean(0))
    network.spread.copy_(values.std(0).clamp(min=0.05))
    return FitState(
        network, torch.optim.AdamW(network.parameters(), settings.learning_rate, weight_decay=settings.decay)
    )


def run_epoch(
    state: FitState, flat: Flat, vectors: np.ndarray, settings: Settings, until: Callable[[], bool] = lambda: False
) -> float | None:
    """Learn from `epoch_steps` steps, which the seed and the number of the epoch choose; the mean loss. None where
    `until` says between two batches to pause: called again with this state it goes on there, and comes to the same."""
    rng = np.random.default_rng((settings.seed, state.epoch))
    drawn = rng.choice(len(flat), settings.epoch_steps, p=group_shares(flat.groups, settings.group_power))
    torch.manual_seed(settings.seed * 1000 + state.epoch)
    if state.chance is not None:
        torch.set_rng_state(state.chance)
    state.network.train()
    for start in range(len(state.losses) * settings.batch_size, len(drawn), settings.batch_size):
        _set_rate(state.optimizer, settings, (state.epoch + start / len(drawn)) / settings.epochs)
        part = batch(flat, drawn[start : start + settings.batch_size], vectors)
        loss = step_losses(state.network, part, settings.noise).mean()
        state.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(state.network.parameters(), CLIP)
        state.optimizer.step()
        state.losses.append(float(loss.detach()))
        if start + settings.batch_size < len(drawn) and until():  # after its last batch the epoch is done
            state.chance = torch.get_rng_state()
            return None
    mean = float(np.mean(state.losses))
    state.epoch, state.losses, state.chance = state.epoch + 1, [], None
    return mean


def _set_rate(optimizer: torch.optim.Optimizer, settings: Settings, share: float) -> None:
    """Set the learning rate: warming up over the first five per cent, times a cosine that falls to zero at the end."""
    warm = min(1.0, share / 0.05 + 0.02)
    for group in optimizer.param_groups:
        group["lr"] = settings.learning_rate * warm * 0.5 * (1 + math.cos(math.pi * share))


def step_losses(network: Network, part: Batch, noise: float = 0.0) -> torch.Tensor:
    """Loss of each step: its element, the operation on it, and its value where there is one to learn."""
    rows, steps = part.rows, len(part.operation)
    if noise:
        for name in ("name", "markup", "instruction"):
            vectors = getattr(rows, name)
            setattr(rows, name, vectors + noise * torch.randn_like(vectors) * (vectors != 0))
    scores, operations = network(rows)
    loss = gold_loss(scores, rows.segment, part.gold, steps)
    gold = part.gold.bool()
    wanted = part.operation[rows.segment[gold]]
    per_row = functional.cross_entropy(operations[gold], wanted, reduction="none")
    counts = torch.zeros(steps).index_add(0, rows.segment[gold], torch.ones(len(wanted)))
    loss = loss + torch.zeros(steps).index_add(0, rows.segment[gold], per_row) / counts
    if len(part.values):
        found = gold_loss(network.values(part.values), part.value_step, part.value_gold, steps)
        has = torch.zeros(steps).index_add(0, part.value_step, torch.ones(len(part.values))) > 0
        loss = loss + torch.where(has, found, torch.zeros(steps))
    return loss
