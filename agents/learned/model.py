"""A trained planner: its folder on disk, and its predictions. Core."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from agents.encoders.embedding import Encoder
from agents.learned import features
from agents.learned.arrays import (
    similarity_columns,
    text_numbers,
    value_numbers,
    value_similarity,
)
from agents.learned.examples import OPERATIONS
from agents.learned.flat import tensor
from agents.learned.network import CandidateRows, Network, Shape, log_softmax
from agents.learned.prepare import PreparedStep, prepare_values
from agents.learned.shown.habits import Habits
from agents.learned.texts import TextTable
from agents.types import Observation

WEIGHTS, CONFIG = "model.safetensors", "config.json"
KIND = "learned-grounded"

_Chosen = tuple[int, int, str, float]  # the step; place of an element, its operation and that one's share


class NotAModel(ValueError):
    """The folder holds no model that this version can read; the message says why."""


@dataclass(frozen=True)
class LearnedPrediction:
    """What to do with one element at a step. Shapes: n candidates in document order, v possible values."""

    scores: np.ndarray  # (n,) logarithms of probabilities
    place: int  # of the element
    operation: str
    operation_share: float
    value: str
    value_share: float  # 0 where there was no value to choose
    value_source: str

    @property
    def beside_share(self) -> float:
        """The probability of its operation and value, given its element."""
        return self.operation_share * (self.value_share if self.value_source else 1.0)


@dataclass(frozen=True)
class LearnedModel:
    """Networks whose probabilities are averaged, and the words that many training tasks have in their instructions."""

    networks: tuple[Network, ...]
    common: frozenset[str]
    encoder_name: str
    config: dict[str, Any]

    @property
    def related(self) -> bool:
        """Whether it reads the columns of `relations`; a model trained before there were any does not."""
        return bool(self.config.get("settings", {}).get("relations"))

    @property
    def habits(self) -> Habits:
        """What was typed in its training though nothing said it."""
        return Habits(**{name: tuple(texts) for name, texts in self.config.get("habits", {}).items()})

    @torch.inference_mode()
    def predict(
        self, steps: Sequence[PreparedStep], observations: Sequence[Observation], encoder: Encoder, count: int = 1
    ) -> list[list[LearnedPrediction]]:
        """What to do with each of the `count` best elements of a step; all texts of the batch are encoded together."""
        if not steps:
            return []
        table = TextTable()
        numbers = [text_numbers(step, table) for step in steps]
        instructions = [table.number(step.instruction.text) for step in steps]
        words = [table.numbers(step.words) for step in steps]
        vectors = _encode(table, encoder)
        near = [
            similarity_columns(n, i, w, step.acted, vectors)
            for n, i, w, step in zip(numbers, instructions, words, steps, strict=True)
        ]
        segment = torch.from_numpy(np.repeat(np.arange(len(steps)), [len(n) for n in numbers]))
        texts = np.concatenate(numbers)
        rows = CandidateRows(
            tensor(np.concatenate([np.hstack([s.columns, n]) for s, n in zip(steps, near, strict=True)])),
            tensor(vectors[texts[:, 0]]),
            tensor(vectors[texts[:, 1]]),
            tensor(vectors[instructions]),
            segment,
        )
        scores, operations = _vote([network(rows) for network in self.networks], segment, len(steps))
        own = [scores[segment == i].numpy() for i in range(len(steps))]
        does = [operations[segment == i] for i in range(len(steps))]
        chosen = [
            self._choose(i, place, does[i][place])
            for i in range(len(steps))
            for place in np.argsort(-own[i], kind="stable")[:count].tolist()
        ]
        found: list[list[LearnedPrediction]] = [[] for _ in steps]
        for (i, place, operation, share), value in zip(
            chosen, self._values(chosen, steps, observations, encoder), strict=True
        ):
            found[i].append(LearnedPrediction(own[i], place, operation, share, *value))
        return found

    def _choose(self, step: int, place: int, operations: torch.Tensor) -> _Chosen:
        number = int(operations.argmax())
        return step, place, OPERATIONS[number], float(operations[number])

    def _values(
        self,
        chosen: Sequence[_Chosen],
        steps: Sequence[PreparedStep],
        observations: Sequence[Observation],
        encoder: Encoder,
    ) -> list[tuple[str, float, str]]:
        """The likeliest value of each, its share, and where it was found."""
        table = TextTable()
        offered = []
        for number, place, operation, _ in chosen:
            step, earlier = steps[number], observations[number].earlier_instructions
            values = prepare_values(step, step.page.candidates[place], operation, earlier, self.common)
            instruction, words = table.number(step.instruction.text), table.numbers(step.words)
            numbers = value_numbers(values, operation, table) if values.spans else (0, np.zeros(0, np.int32), False)
            offered.append((values, numbers, instruction if values.spans else 0, words))
        vectors = _encode(table, encoder)
        found = []
        for values, numbers, instruction, words in offered:
            value, value_share, source = "", 0.0, ""
            if values.spans:
                near = value_similarity(numbers, instruction, words, vectors)
                shares = self._value_shares(np.hstack([values.columns, near]))
                best = int(shares.argmax())
                value, value_share, source = values.spans[best].text, float(shares[best]), values.spans[best].source
            found.append((value, value_share, source))
        return found

    def _value_shares(self, columns: np.ndarray) -> np.ndarray:
        found = [network.values(tensor(columns)).softmax(0) for network in self.networks]
        return torch.stack(found).mean(0).numpy()


def _encode(table: TextTable, encoder: Encoder) -> np.ndarray:
    """Vectors of the texts, as half floats as in training; the empty text has the zero vector."""
    vectors = np.zeros((len(table.texts), encoder.dimensions), dtype=np.float16)
    vectors[1:] = encoder.encode(table.texts[1:])
    return vectors


def _vote(
    found: Sequence[tuple[torch.Tensor, torch.Tensor]], segment: torch.Tensor, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean probabilities of the networks: log of those of elements, shape (r,), and of operations, (r, operations)."""
    elements = torch.stack([log_softmax(scores, segment, steps).exp() for scores, _ in found]).mean(0)
    operations = torch.stack([logits.softmax(1) for _, logits in found]).mean(0)
    return elements.clamp(min=1e-12).log(), operations


def save(model: LearnedModel, folder: Path) -> None:
    """Weights as safetensors, everything else as JSON; each file is written whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        f"{i}.{name}": value.contiguous()
        for i, n in enumerate(model.networks)
        for name, value in n.state_dict().items()
    }
    save_file(weights, folder / f"{WEIGHTS}.partial")
    (folder / f"{WEIGHTS}.partial").replace(folder / WEIGHTS)
    config = model.config | {
        "kind": KIND,
        "features_version": features.VERSION,
        "encoder": model.encoder_name,
        "common_words": sorted(model.common),
        "networks": len(model.networks),
        "shape": dataclasses.asdict(model.networks[0].shape),
    }
    write_json(folder / CONFIG, config)


def write_json(path: Path, content: Any) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", "utf-8")
    partial.replace(path)


def load(folder: Path | str) -> LearnedModel:
    """The model in a folder. Raises NotAModel where there is none, or one of another version of the columns."""
    folder = Path(folder)
    try:
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        weights = load_file(folder / WEIGHTS)
    except (OSError, ValueError) as error:
        raise NotAModel(f"{folder} holds no trained planner: {error}") from error
    if config.get("kind") != KIND or config.get("features_version") != features.VERSION:
        raise NotAModel(
            f"{folder} holds a {config.get('kind')} with columns of version {config.get('features_version')}; "
            f"expected {KIND} with version {features.VERSION}: train it again"
        )
    networks = []
    for number in range(config["networks"]):
        network = Network(Shape(**config["shape"]))
        prefix = f"{number}."
        network.load_state_dict({k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)})
        networks.append(network.eval())
    return LearnedModel(tuple(networks), frozenset(config["common_words"]), config["encoder"], config)
