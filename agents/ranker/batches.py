"""Length-sorted batches that hold a budget of tokens, padding included. Core."""

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
    if budget < 1:
        raise ValueError(f"a budget of {budget} tokens holds no row")
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        rows = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + rows]
        start += rows
