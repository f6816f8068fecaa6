"""Every distinct text encoded once, in parts on disk so that an interrupted training keeps what is done. Core."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from agents.encoders.embedding import Encoder

PART = 4096  # texts encoded between two writes


class TextTable:
    """Distinct texts and their places; the empty text is number 0 and has the zero vector."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]

    def numbers(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.number(text) for text in texts], dtype=np.int32)


def encode_all(
    texts: Sequence[str],
    encoder: Encoder,
    folder: Path | None = None,
    on_progress: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> np.ndarray:
    """Unit vectors as half floats, shape (len(texts), dimensions); the first, empty text gets zeros.

    With a `folder`, each part is one file named by its content, written whole or not at all, and read back when the
    same texts are encoded again. Only parts that are encoded now are told.
    """
    vectors = np.zeros((len(texts), encoder.dimensions), dtype=np.float16)
    for start in range(1, len(texts), PART):
        part = list(texts[start : start + PART])
        file = _file(part, encoder, folder) if folder else None
        if file and file.exists():
            vectors[start : start + PART] = np.load(file, allow_pickle=False)
            continue
        vectors[start : start + PART] = _encoded(part, encoder, file)
        on_progress("encode", min(start + PART, len(texts)), len(texts))
    return vectors


def _file(part: list[str], encoder: Encoder, folder: Path) -> Path:
    digest = hashlib.sha256("\0".join([encoder.name, *part]).encode()).hexdigest()[:32]
    return folder / f"vectors-{digest}.npy"


def _encoded(part: list[str], encoder: Encoder, file: Path | None) -> np.ndarray:
    vectors = encoder.encode(part).astype(np.float16)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".partial")
        with partial.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
        partial.replace(file)
    return vectors
