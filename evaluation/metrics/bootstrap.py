"""Percentile bootstrap over conversations.

Steps of one conversation depend on each other (same site, same user, same history), so conversations are what is
drawn with replacement, and every value is recomputed as a ratio of sums over the drawn conversations.
"""

from collections.abc import Iterator

import numpy as np

CHUNK = 64  # resamples held in memory at once: 64 x 10,000 conversations are 5 MB


def intervals(
    numerators: np.ndarray, denominators: np.ndarray, seed: int = 0, resamples: int = 1000, level: float = 0.95
) -> np.ndarray:
    """Bounds of sum(numerators) / sum(denominators) for each column, shape (2, columns): low, then high.

    Both inputs have shape (conversations, columns); denominators must be positive, so no resample divides by zero
    (ValueError otherwise). The same seed gives the same bounds. Values lie in 0..1, which is all that one conversation
    says of the others: its bounds are 0 and 1. Zeros for no conversations.
    """
    count, columns = numerators.shape
    if count == 0:
        return np.zeros((2, columns))
    if not (denominators > 0).all():
        raise ValueError("every conversation must count in every column: denominators must be positive")
    if count == 1:
        return np.stack([np.zeros(columns), np.ones(columns)])
    # Most columns share their denominator (conversations, turns or steps): sum each distinct one once.
    distinct, column_of = np.unique(denominators, axis=1, return_inverse=True)
    sums = np.hstack([numerators, distinct])
    drawn = np.vstack([weights @ sums for weights in _draws(count, seed, resamples)])
    values = drawn[:, :columns] / drawn[:, columns:][:, column_of.ravel()]
    tail = (1 - level) / 2 * 100
    bounds: np.ndarray = np.percentile(values, [tail, 100 - tail], axis=0)
    return bounds


def _draws(count: int, seed: int, resamples: int) -> Iterator[np.ndarray]:
    """Yield blocks of shape (resamples in block, count): how often each conversation was drawn."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        drawn = generator.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(float)
