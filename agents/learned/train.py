"""Train the planner on demonstrations: read, encode, fit, save. Core; the caller brings the examples.

Everything that takes long is kept under `folder/checkpoint`: vectors part by part, the network after each epoch. The
same call continues there after any interruption and gives the same weights as without one.
"""

import dataclasses
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.encoders.embedding import Encoder
from agents.learned.arrays import Arrays, collect
from agents.learned.examples import Example
from agents.learned.fit import FitState, begin, run_epoch
from agents.learned.flat import Flat, flatten
from agents.learned.measure import measure
from agents.learned.model import LearnedModel, save, write_json
from agents.learned.network import Network, Shape
from agents.learned.prepare import template_words
from agents.learned.settings import Settings
from agents.learned.shown.habits import Habits, habits_of
from agents.learned.texts import TextTable, encode_all

METRICS, CHECKPOINT = "metrics.json", "checkpoint"

TellEpoch = Callable[[str, int, int], None]  # phase ("read", "encode", "fit"), done, total


class Paused(Exception):
    """The training is to go on later; what is done so far is kept in its folder."""


class NothingToLearn(ValueError):
    """No example has a readable page with its element on it."""


@dataclass(frozen=True)
class Readings:
    """What was read of the examples' pages. The network learns from `arrays`; `dev` only measures it."""

    arrays: Arrays
    dev: Arrays
    table: TextTable
    common: frozenset[str]  # words of instructions' templates
    habits: Habits
    examples: int
    seconds: float


@dataclass(frozen=True)
class LaidOut:
    """What was read, with the vectors of its texts, as the network learns from it; `dev` where there is any."""

    flat: Flat
    dev: Flat | None
    vectors: np.ndarray
    encoder: str
    common: frozenset[str]
    habits: Habits
    counts: dict[str, int]  # of examples, those that were skipped, and texts
    seconds: float


def read(
    examples: Iterable[Example],
    settings: Settings,
    on_progress: TellEpoch = lambda phase, done, total: None,
    dev: Iterable[Example] = (),
) -> Readings:
    """Read every page once. Raises NothingToLearn."""
    begun = time.perf_counter()
    examples, dev = list(examples), list(dev)
    common, table = frozenset(template_words(examples)), TextTable()
    related, habits = settings.relations, habits_of(examples)
    arrays, held = (Arrays(related=related, habits=habits) for _ in range(2))
    collect(arrays, examples, common, table, on_progress, len(examples), settings.without_quotes)
    collect(held, dev, common, table)
    if not len(arrays):
        raise NothingToLearn(f"none of {len(examples)} examples can be learnt from")
    return Readings(arrays, held, table, common, habits, len(examples), time.perf_counter() - begun)


def lay_out(
    readings: Readings,
    encoder: Encoder,
    folder: Path,
    on_progress: TellEpoch = lambda phase, done, total: None,
) -> LaidOut:
    """Encode the texts, part by part; what is encoded already is taken from `folder`, and not told."""
    begun = time.perf_counter() - readings.seconds
    arrays, texts = readings.arrays, readings.table.texts
    vectors = encode_all(texts, encoder, folder / CHECKPOINT, on_progress)
    flat, dev = flatten(arrays, vectors), flatten(readings.dev, vectors) if len(readings.dev) else None
    counts = {"examples": readings.examples, "skipped": arrays.skipped, "texts": len(texts) - 1}
    seconds = time.perf_counter() - begun
    return LaidOut(flat, dev, vectors, encoder.name, readings.common, readings.habits, counts, seconds)


def train(
    laid_out: LaidOut,
    settings: Settings,
    folder: Path,
    on_progress: TellEpoch = lambda phase, done, total: None,
    until: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Fit the networks and write `folder` (weights, config.json, metrics.json); the metrics. Raises Paused where
    `until`, which is asked after each batch, says to pause.

    Deterministic for given examples, settings and threads.
    """
    begun = time.perf_counter() - laid_out.seconds
    checkpoint = folder / CHECKPOINT
    networks, losses = _fit_all(laid_out, settings, checkpoint, on_progress, until)
    metrics: dict[str, Any] = {
        **laid_out.counts,
        "seconds_reading_and_encoding": round(laid_out.seconds, 1),
        "seconds": round(time.perf_counter() - begun, 1),
        "losses": losses,
    }
    if laid_out.dev is not None:
        metrics["dev"] = measure(networks, laid_out.dev, laid_out.vectors)
    config = {"settings": dataclasses.asdict(settings), "habits": dataclasses.asdict(laid_out.habits)}
    model = LearnedModel(tuple(networks), laid_out.common, laid_out.encoder, config)
    save(model, folder)
    write_json(folder / METRICS, metrics)
    shutil.rmtree(checkpoint, ignore_errors=True)
    return metrics


def _fit_all(
    laid_out: LaidOut, settings: Settings, checkpoint: Path, on_progress: TellEpoch, until: Callable[[], bool]
) -> tuple[list[Network], list[list[float]]]:
    """Networks that differ only in their seed, and the loss of each one's epochs."""
    networks, losses = [], []
    total = settings.networks * settings.epochs
    for number in range(settings.networks):
        own = dataclasses.replace(settings, seed=settings.seed + number)

        def tell(done: int, before: int = number * settings.epochs) -> None:
            on_progress("fit", before + done, total)

        network, found = fit_one(laid_out.flat, laid_out.vectors, own, checkpoint, tell, until)
        networks.append(network)
        losses.append(found)
    return networks, losses


def fit_one(
    flat: Flat,
    vectors: np.ndarray,
    settings: Settings,
    checkpoint: Path | None = None,
    on_epoch: Callable[[int], None] = lambda done: None,
    until: Callable[[], bool] = lambda: False,
) -> tuple[Network, list[float]]:
    """One network, from its last checkpoint where there is one for the same data and settings. `on_epoch` is told how
    many epochs are done, before its first and after each; `until`: as `train` has it."""
    torch.manual_seed(settings.seed)
    shape = Shape(
        flat.columns.shape[1],
        flat.values.shape[1],
        vectors.shape[1],
        hidden=settings.hidden,
        dropout=settings.dropout,
        forget=settings.forget,
    )
    network = Network(shape)
    state, losses = begin(network, flat, settings), []
    file = checkpoint / f"epoch-{_digest(flat, settings)}.pt" if checkpoint else None
    if file and file.exists():
        losses = _resume(state, file)
    if state.epoch < settings.epochs:
        on_epoch(state.epoch)
    while state.epoch < settings.epochs:
        loss = run_epoch(state, flat, vectors, settings, until)
        if loss is not None:
            losses.append(round(loss, 4))
        if file:
            _keep(state, losses, file)
        if loss is not None:
            on_epoch(state.epoch)
        if loss is None or (state.epoch < settings.epochs and until()):
            raise Paused
    return network.eval(), losses


def _digest(flat: Flat, settings: Settings) -> str:
    content = hashlib.sha256(json.dumps(dataclasses.asdict(settings), sort_keys=True).encode())
    for part in (flat.columns, flat.texts, flat.gold, flat.values, flat.value_gold):
        content.update(np.ascontiguousarray(part).data)
    return content.hexdigest()[:32]


def _keep(state: FitState, losses: Sequence[float], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    torch.save(
        {
            "network": state.network.state_dict(),
            "optimizer": state.optimizer.state_dict(),
            "epoch": state.epoch,
            "losses": list(losses),
            "of_epoch": state.losses,
            "chance": state.chance,
        },
        partial,
    )
    partial.replace(file)


def _resume(state: FitState, file: Path) -> list[float]:
    kept = torch.load(file, weights_only=True)
    state.network.load_state_dict(kept["network"])
    state.optimizer.load_state_dict(kept["optimizer"])
    state.epoch, state.losses, state.chance = kept["epoch"], kept.get("of_epoch", []), kept.get("chance")
    return list(kept["losses"])
