"""Until when answers may take that are asked for now: a limit on time holds for requests that run, too. Core."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agents.llm.errors import LlmError
from agents.llm.usage import Usage

_ends: ContextVar[float | None] = ContextVar("ends", default=None)  # of the clock `time.monotonic`


class OutOfTime(LlmError):
    """The request was given up, as there was no time left for its answer."""

    def __init__(self, message: str = "there was no time left for its answer", usage: Usage | None = None) -> None:
        super().__init__(message, usage)


@contextmanager
def answered_within(seconds: float | None) -> Iterator[None]:
    """Whatever is asked inside has so many seconds; None: as long as it takes."""
    token = _ends.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


def seconds_left() -> float | None:
    """How long answers may still take, 0 or less where time is up; None: as long as they take."""
    ends = _ends.get()
    return None if ends is None else ends - time.monotonic()


def is_over() -> bool:
    """Whether time is up for whatever runs now."""
    left = seconds_left()
    return left is not None and left <= 0
