"""Arrays as tensors, and batches of them. Core."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agents.learned.arrays import VALUE_EXTRA, Arrays, similarity_columns, value_similarity
from agents.learned.network import CandidateRows
from agents.learned.spans import width


@dataclass
class Flat:
    """All rows of all steps: step s has the rows offsets[s] .. offsets[s + 1] and its values the same way."""

    columns: np.ndarray  # (r, columns) half floats
    texts: np.ndarray  # (r, 2)
    gold: np.ndarray  # (r,)
    offsets: np.ndarray  # (s + 1,)
    instruction: np.ndarray  # (s,)
    operation: np.ndarray  # (s,)
    values: np.ndarray  # (v, value columns) half floats
    value_gold: np.ndarray
    value_offsets: np.ndarray
    groups: list[str]

    def __len__(self) -> int:
        return len(self.instruction)


@dataclass
class Batch:
    """Some steps as tensors. `values` are the possible values of their gold elements; `value_step` has the step of
    each, by its place in the batch."""

    rows: CandidateRows
    gold: Tensor  # (r,)
    operation: Tensor  # (s,)
    values: Tensor
    value_gold: Tensor
    value_step: Tensor
    steps: np.ndarray


def flatten(arrays: Arrays, vectors: np.ndarray) -> Flat:
    """Add the columns that need vectors and lay everything end to end."""
    columns, values = [], []
    for i in range(len(arrays)):
        near = similarity_columns(arrays.texts[i], arrays.instruction[i], arrays.words[i], arrays.acted[i], vectors)
        columns.append(np.concatenate([arrays.columns[i], near.astype(np.float16)], axis=1))
        near = value_similarity(arrays.value_texts[i], arrays.instruction[i], arrays.words[i], vectors)
        known = len(arrays.values[i])
        values.append(np.concatenate([arrays.values[i], near[:known].astype(np.float16)], axis=1))
    return Flat(
        np.concatenate(columns),
        np.concatenate(arrays.texts),
        np.concatenate(arrays.gold),
        _offsets(columns),
        np.array(arrays.instruction),
        np.array(arrays.operation),
        np.concatenate([np.zeros((0, width(arrays.related) + VALUE_EXTRA), dtype=np.float16), *values]),
        np.concatenate([np.zeros(0, dtype=bool), *arrays.value_gold]),
        _offsets(values),
        arrays.groups,
    )


def _offsets(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *(len(part) for part in parts)])


def batch(flat: Flat, steps: np.ndarray, vectors: np.ndarray) -> Batch:
    """The rows of some steps as tensors."""
    places, segment = _places(flat.offsets, steps)
    value_places, value_step = _places(flat.value_offsets, steps)
    texts = flat.texts[places]
    rows = CandidateRows(
        tensor(flat.columns[places]),
        tensor(vectors[texts[:, 0]]),
        tensor(vectors[texts[:, 1]]),
        tensor(vectors[flat.instruction[steps]]),
        segment,
    )
    return Batch(
        rows,
        tensor(flat.gold[places]),
        torch.from_numpy(flat.operation[steps]),
        tensor(flat.values[value_places]),
        tensor(flat.value_gold[value_places]),
        value_step,
        steps,
    )


def tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _places(offsets: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, Tensor]:
    """Row numbers of the steps, and which of the steps each row belongs to."""
    sizes = offsets[steps + 1] - offsets[steps]
    segment = np.repeat(np.arange(len(steps)), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return offsets[steps][segment] + within, torch.from_numpy(segment)
