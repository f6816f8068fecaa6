"""Cases that record an error: the published code crashed there."""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def error_of(recorded: Any) -> type[Exception] | None:
    """The class named by an `error` key ("ValueError: why", or the name alone); None where there is a result."""
    error = recorded.get("error") if isinstance(recorded, dict) else None
    return getattr(builtins, error.partition(":")[0].strip()) if error else None


@contextmanager
def crash_of(recorded: Any) -> Iterator[bool]:
    """Whether an error is recorded; then the block, which is faithful to the published code, must raise its class."""
    error = error_of(recorded)
    if error is None:
        yield False
        return
    with pytest.raises(error):
        yield True
