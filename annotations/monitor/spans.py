"""Spans: named pieces of work that somebody may watch, such as a counter or a tracer. Core.

The work says that it begins and ends; who watches is added by the site. Without a watcher a span costs nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

Watcher = Callable[[str, dict[str, Any]], AbstractContextManager[Any]]
WATCHERS: list[Watcher] = []


@contextmanager
def span(name: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """A piece of work; what is known at its end only is added to the facts that the block is given."""
    with ExitStack() as stack:
        for watch in WATCHERS:
            stack.enter_context(watch(name, facts))
        yield facts
