"""Length-sorted batches that hold a budget of tokens. Core."""

from collections.abc import Iterator, Sequence

CPU_TOKENS = 4_096  # activations that stay near the processor's caches
GPU_TOKENS = 65_536


def token_budget(device: str) -> int:
    """Tokens of a batch that keep the device busy and fit its memory."""
    return CPU_TOKENS if device == "cpu" else GPU_TOKENS


def token_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices grouped so that (rows of a batch) × (its longest row) stays within `budget`; longest rows first.

    Neighbours in length go together, so that little is padded; the longest first, so that memory is short at once or
    never. A row longer than the budget is a batch of its own. ValueError for a budget below 1.
    """
    order = _longest_first(lengths, budget)
    start = 0
    while start < len(order):
        rows = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + rows]
        start += rows


def packed_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """As `token_batches`, for rows that are laid end to end: the sum of their lengths stays within `budget`."""
    batch: list[int] = []
    tokens = 0
    for i in _longest_first(lengths, budget):
        if batch and tokens + lengths[i] > budget:
            yield batch
            batch, tokens = [], 0
        batch.append(i)
        tokens += lengths[i]
    if batch:
        yield batch


def _longest_first(lengths: Sequence[int], budget: int) -> list[int]:
    if budget < 1:
        raise ValueError(f"a budget of {budget} tokens holds no row")
    return sorted(range(len(lengths)), key=lambda i: -lengths[i])
