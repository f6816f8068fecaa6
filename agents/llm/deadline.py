"""Until when answers may take that are asked for now: a limit on time holds for requests that run, too, and what was
cancelled ends in the middle of a batch. Core."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agents.llm.errors import LlmError
from agents.llm.usage import Usage

_ends: ContextVar[float | None] = ContextVar("ends", default=None)  # of the clock `time.monotonic`
_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("unwanted", default=None)


class OutOfTime(LlmError):
    """The request was given up, as there was no time left for its answer."""

    def __init__(self, message: str = "there was no time left for its answer", usage: Usage | None = None) -> None:
        super().__init__(message, usage)


class GivenUp(Exception):
    """The work was cancelled, or another worker has it: what is at hand ends where it stands. No `LlmError`, as no step
    is to be stored with it, nor asked about again."""

    def __init__(self) -> None:
        super().__init__("nobody waits for this work any more")


@contextmanager
def wanted_until(is_unwanted: Callable[[], bool]) -> Iterator[None]:
    """Whatever is asked inside ends once `is_unwanted`, which is asked at every token and must cost nothing."""
    token = _unwanted.set(is_unwanted)
    try:
        yield
    finally:
        _unwanted.reset(token)


def is_given_up() -> bool:
    """Whether nobody wants what is done now."""
    is_unwanted = _unwanted.get()
    return is_unwanted is not None and is_unwanted()


def go_on() -> None:
    """Between two parts of some work: raises GivenUp where nobody wants it any more."""
    if is_given_up():
        raise GivenUp


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
    """Whether time is up for whatever runs now, or nobody wants it any more."""
    left = seconds_left()
    return (left is not None and left <= 0) or is_given_up()


def may_be_over() -> bool:
    """Whether something may end what is asked now before its answer is there."""
    return _ends.get() is not None or _unwanted.get() is not None
