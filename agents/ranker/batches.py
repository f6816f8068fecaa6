"""Length-sorted batches that hold a budget of tokens, padding included. Core."""

from collections.abc import Iterator, Sequence

CPU_TOKENS = 4_096  # activations that stay near the processor's caches
CPU_BFLOAT16_TOKENS = 16_384  # its matrix units want larger products
GPU_TOKENS = 65_536


def token_budget(device: str, dtype: str = "float32") -> int:
    """Tokens of a batch that keep the device busy and fit its memory."""
    if device != "cpu":
        return GPU_TOKENS
    return CPU_BFLOAT16_TOKENS if dtype == "bfloat16" else CPU_TOKENS


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
