"""Shorten texts to numbers of tokens: how much each of several may keep, and what is cut out of one (A6.2)."""

import math
from collections.abc import Sequence

from agents.weblinx.tokens import SpanTokenizer, count

ELLIPSIS = "..."


def reduce_lengths(lengths: Sequence[int], maximum: int) -> list[int]:
    """Ascending lengths cut down to a common height so that their sum is `maximum`; unchanged when it is not over.

    Where the height is not the same for all, the last ones keep one more.
    """
    if sum(lengths) <= maximum:
        return list(lengths)
    if maximum <= 0:
        return [0] * len(lengths)
    total = previous = 0
    for index, length in enumerate(lengths):
        rest = len(lengths) - index
        total += (length - previous) * rest
        if total > maximum:
            height = length - math.ceil((total - maximum) / rest)
            break
        previous = length
    reduced = [*lengths[:index], *[height] * rest]
    extra = maximum - sum(reduced)
    return [length + (place >= len(reduced) - extra) for place, length in enumerate(reduced)]


def budgets(texts: Sequence[str], remove: int, tokenizer: SpanTokenizer) -> list[int | None]:
    """How many tokens each text may keep so that together they lose `remove`; None where it may stay whole."""
    lengths = [count(tokenizer, text) for text in texts]
    order = sorted(range(len(texts)), key=lengths.__getitem__)
    kept: list[int | None] = [None] * len(texts)
    for index, budget in zip(order, reduce_lengths([lengths[i] for i in order], sum(lengths) - remove), strict=True):
        if budget < lengths[index]:
            kept[index] = budget
    return kept


def cut_centre(text: str, budget: int, tokenizer: SpanTokenizer, iterative: bool = False) -> str | None:
    """The text without its middle tokens, "..." in their place; None when not even that fits the budget.

    The result may have more tokens than the budget (quirk Q8, kept), as cutting can split or join tokens.
    `iterative` cuts at least one token more, until it fits or nothing but the ellipsis is left.
    """
    spans = tokenizer.spans(text)
    ellipsis = count(tokenizer, ELLIPSIS)
    if len(spans) <= budget:
        return text
    if budget < ellipsis:
        return None
    if budget == ellipsis:
        return ELLIPSIS
    removed = len(spans) - (budget - ellipsis)
    cut = _without_middle(text, spans, removed)
    while iterative and removed < len(spans):
        removed += 1
        cut = _without_middle(text, spans, removed)
        if count(tokenizer, cut) <= budget:
            break
    return cut


def _without_middle(text: str, spans: Sequence[tuple[int, int]], removed: int) -> str:
    left = len(spans) // 2 - removed // 2
    return text[: spans[left][0]] + ELLIPSIS + text[spans[left + removed - 1][1] :]
