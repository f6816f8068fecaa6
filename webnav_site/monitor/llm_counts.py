"""Calls of language models, counted as they end: every caller's, whether a run's, an induction's or a proposal's."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotations.monitor import counters


@contextmanager
def count(name: str, facts: dict[str, Any]) -> Iterator[None]:
    """A watcher of spans."""
    if name != "llm":
        yield
        return
    begun = time.perf_counter()
    try:
        yield
    finally:
        model = str(facts["model"])
        counters.LLM_CALLS.observe(model, amount=time.perf_counter() - begun)
        for direction in ("prompt", "completion"):
            counters.LLM_TOKENS.add(model, direction, amount=facts.get(f"{direction}_tokens", 0))
        counters.LLM_COST.add(model, amount=facts.get("cost", 0.0))
