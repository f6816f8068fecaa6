"""Encoders: every distinct text once, and the packaged MiniLM means something."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer, DistilBertConfig, DistilBertModel

from agents.encoders.batches import packed_batches
from agents.encoders.embedding import CachedEncoder, Encoder, HashEncoder, MeanPoolingEncoder, load_encoder
from agents.encoders.weights import MINILM
from tests.quick import first_is_quick
from tests.tiny_models import tiny_encoder


class Counting(HashEncoder):
    """Remembers what it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.seen += texts
        return super().encode(texts)


def test_a_cache_encodes_each_distinct_text_once() -> None:
    inner = Counting()
    cached = CachedEncoder(inner)
    cached.encode(["a", "b", "a"])
    cached.encode(["b", "c"])
    cached.encode(["a", "b", "c"])
    assert inner.seen == ["a", "b", "c"]
    assert cached.encoded == 3


def test_a_cache_gives_the_rows_in_the_order_asked_for() -> None:
    cached, plain = CachedEncoder(HashEncoder()), HashEncoder()
    cached.encode(["one word", "two"])
    texts = ["two", "three of them", "one word", "two"]
    assert np.allclose(cached.encode(texts), plain.encode(texts), atol=1e-3)
    assert cached.encode([]).shape == (0, 384)


def test_a_full_cache_forgets_what_was_used_longest_ago() -> None:
    inner = Counting()
    cached = CachedEncoder(inner, capacity=2)
    cached.encode(["a", "b"])
    cached.encode(["a"])
    cached.encode(["c"])  # b goes
    cached.encode(["a", "c"])
    assert inner.seen == ["a", "b", "c"]
    cached.encode(["b"])
    assert inner.seen == ["a", "b", "c", "b"]


def test_a_batch_larger_than_the_cache_is_still_complete() -> None:
    cached, plain = CachedEncoder(HashEncoder(), capacity=2), HashEncoder()
    texts = [f"text {i}" for i in range(10)]
    assert np.allclose(cached.encode(texts), plain.encode(texts), atol=1e-3)
    assert len(cached._rows) == 2


def test_hashed_words_are_unit_vectors_that_depend_on_the_words_only() -> None:
    encoder = HashEncoder()
    vectors = encoder.encode(["Red shoes", "shoes red", "a lamp", ""])
    assert np.linalg.norm(vectors[:3], axis=1) == pytest.approx([1, 1, 1])
    assert np.array_equal(vectors[0], vectors[1])
    assert abs(vectors[0] @ vectors[2]) < 0.5
    assert not vectors[3].any()


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return load_encoder(MINILM).encoder


def test_minilm_puts_related_texts_nearer_than_unrelated_ones(minilm) -> None:
    query, near, far = minilm.encode(
        ["How do I cancel my booking?", "I would like to undo a reservation.", "The weather in Lisbon is mild."]
    )
    assert query @ near > 0.5
    assert query @ far < 0.2


def test_minilm_gives_unit_vectors_of_384_dimensions(minilm) -> None:
    vectors = minilm.encode(["one", "two words", ""])
    assert vectors.shape == (3, minilm.dimensions) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert minilm.encode([]).shape == (0, 384)


@pytest.mark.slow
def test_minilm_gives_a_text_the_same_vector_in_any_batch(minilm) -> None:
    texts = ["Search", "link Terms and conditions of carriage", "word " * 300, "button Book · Nordic Express 07:05"]
    together = minilm.encode(texts)
    alone = np.stack([minilm.encode([text])[0] for text in texts])
    assert np.abs(together - alone).max() < 1e-3
    assert (together * alone).sum(1) == pytest.approx(np.ones(4), abs=1e-4)


WORDS = "a red shoe in size ten from the shop by the sea".split()
TEXTS = [" ".join(WORDS[: 1 + i % len(WORDS)] * (1 + i % 40)) for i in range(90)]  # 1 to 429 words


def one_by_one(folder: Path, texts: list[str]) -> np.ndarray:
    """Means of the last hidden states as transformers gives them, without batches."""
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    rows = []
    for text in texts:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, truncation=True, max_length=300, return_tensors="pt")).last_hidden_state
        rows.append(torch.nn.functional.normalize(hidden.mean(1)[0], dim=0).numpy())
    return np.stack(rows)


@pytest.mark.slow
@first_is_quick("packed", [True, False], ids=["BERT, packed", "DistilBERT, padded"])
def test_batches_do_not_change_the_vectors(packed: bool, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, TEXTS)
    if not packed:
        sizes = {"vocab_size": 64, "dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4}
        DistilBertModel(DistilBertConfig(**sizes)).save_pretrained(folder)
    encoder = MeanPoolingEncoder("tiny", folder, "cpu", max_tokens=300)
    assert encoder.reads_apart is packed
    assert encoder.encode(TEXTS) == pytest.approx(one_by_one(folder, TEXTS), abs=1e-6)
    assert encoder.encode([]).shape == (0, 64)


@given(st.lists(st.integers(1, 150)))
def test_packed_batches_hold_every_text_once_and_few_tokens(lengths: list[int]) -> None:
    batches = list(packed_batches(lengths, 100))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or sum(lengths[i] for i in batch) <= 100 for batch in batches)
    placed = [lengths[i] for batch in batches for i in batch]
    assert placed == sorted(placed, reverse=True)
