"""Percentile bootstrap over conversations.

Steps of one conversation depend on each other (same site, same user, same history), so conversations are what is
drawn with replacement, and every value is recomputed as a ratio of sums over the drawn conversations.

Conversations that are all alike cannot tell how far others differ: whatever is drawn of them has the same value. There
the bound is exact instead: at most the share `unlike` of all conversations differs from those that were seen (Clopper
and Pearson's bound for none of n), by as much as the scale allows.
"""

from collections.abc import Iterator, Sequence

import numpy as np

SAME = 1e-9  # values that differ by less are equal, but for rounding
CHUNK = 64  # resamples held in memory at once: 64 x 10,000 conversations are 5 MB


Bound = float | Sequence[float]  # of all columns alike, or one of each
LEVEL = 0.95


def intervals(
    numerators: np.ndarray,
    denominators: np.ndarray,
    seed: int = 0,
    resamples: int = 1000,
    *,
    least: Bound = 0.0,
    most: Bound = 1.0,
) -> np.ndarray:
    """Bounds of sum(numerators) / sum(denominators) for each column, shape (2, columns): low, then high.

    Both inputs have shape (conversations, columns); denominators must be positive, so no resample divides by zero
    (ValueError otherwise). The same seed gives the same bounds. Values lie in `least`..`most`, which is all that one
    conversation says of the others; where such a bound is not known (nan), conversations that are alike have an
    interval without a width. Zeros for no conversations.
    """
    count, columns = numerators.shape
    if count == 0:
        return np.zeros((2, columns))
    if not (denominators > 0).all():
        raise ValueError("every conversation must count in every column: denominators must be positive")
    ratios = numerators / denominators
    alike, seen = np.ptp(ratios, axis=0) < SAME, ratios[0]
    ends = np.stack([np.broadcast_to(np.array(bound, dtype=float), columns) for bound in (least, most)])
    exact: np.ndarray = seen + np.where(np.isnan(ends), 0.0, ends - seen) * _unlike(count)
    if alike.all():
        return exact
    # Most columns share their denominator (conversations, turns or steps): sum each distinct one once.
    distinct, column_of = np.unique(denominators, axis=1, return_inverse=True)
    sums = np.hstack([numerators, distinct])
    drawn = np.vstack([weights @ sums for weights in _draws(count, seed, resamples)])
    values = drawn[:, :columns] / drawn[:, columns:][:, column_of.ravel()]
    tail = (1 - LEVEL) / 2 * 100
    bounds: np.ndarray = np.where(alike, exact, np.percentile(values, [tail, 100 - tail], axis=0))
    return bounds


def _unlike(count: int) -> float:
    """The largest share of conversations that may differ from `count` that are alike, all of them where one was
    seen."""
    return 1 - ((1 - LEVEL) / 2) ** (1 / count) if count > 1 else 1.0


def _draws(count: int, seed: int, resamples: int) -> Iterator[np.ndarray]:
    """Yield blocks of shape (resamples in block, count): how often each conversation was drawn."""
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, CHUNK):
        rows = min(CHUNK, resamples - start)
        drawn = generator.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(float)
