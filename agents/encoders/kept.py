"""Vectors that were computed or paid for before, in a store that outlives the process. Core.

What a store gives back equals, bit for bit, what would be computed anew: no score depends on what was computed before.
So only that is kept which does not depend on what else is computed beside it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import numpy as np

from agents.encoders.embedding import Encoder, MeanPoolingEncoder

T = TypeVar("T")


class VectorStore(Protocol):
    """A store of vectors by key. `get_many` leaves out what it does not have; `put_many` keeps an older vector."""

    def get_many(self, keys: list[str]) -> dict[str, np.ndarray]: ...

    def put_many(self, model: str, vectors: dict[str, np.ndarray]) -> None: ...

    def __hash__(self) -> int: ...


class DictVectors:
    """Vectors in memory, for one process."""

    def __init__(self) -> None:
        self._vectors: dict[str, np.ndarray] = {}

    def get_many(self, keys: list[str]) -> dict[str, np.ndarray]:
        return {key: self._vectors[key] for key in keys if key in self._vectors}

    def put_many(self, model: str, vectors: dict[str, np.ndarray]) -> None:
        self._vectors = vectors | self._vectors


def key_of(*parts: str) -> str:
    """The key of a vector: SHA-256 (hex) of what it was computed by and from."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def known_or_computed(
    store: VectorStore | None, model: str, wanted: Mapping[str, T], compute: Callable[[list[T]], list[np.ndarray]]
) -> dict[str, np.ndarray]:
    """Key -> vector: those that the store has, the others computed together and put there."""
    known = store.get_many(list(wanted)) if store is not None else {}
    missing = {key: value for key, value in wanted.items() if key not in known}
    if missing:
        fresh = dict(zip(missing, compute(list(missing.values())), strict=True))
        if store is not None:
            store.put_many(model, fresh)
        known |= fresh
    return known


class KeptEncoder:
    """An encoder that reads a text only where the store does not have its vector."""

    def __init__(self, encoder: MeanPoolingEncoder, store: VectorStore) -> None:
        self.encoder, self.store, self.name = encoder, store, encoder.name

    @property
    def dimensions(self) -> int:
        return self.encoder.dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        if not texts:
            return self.encoder.encode(texts)
        keys = [key_of(self.encoder.identity, text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found = known_or_computed(self.store, self.name, wanted, lambda missing: list(self.encoder.encode(missing)))
        return np.stack([found[key] for key in keys])


def kept(encoder: Encoder, store: VectorStore) -> Encoder:
    """The encoder with the store before it, where its vector of a text does not depend on the texts beside it."""
    if isinstance(encoder, MeanPoolingEncoder) and encoder.reads_apart:
        return KeptEncoder(encoder, store)
    return encoder
