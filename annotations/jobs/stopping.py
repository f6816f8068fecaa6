"""Whether this worker has been told to stop: long work then ends its slice at the next batch and is queued again.

The flag is one byte of memory that a worker's main process shares with the processes it has forked: only the main
process gets the signal, and only the forked ones do the work.
"""

import mmap
import time
from collections.abc import Callable

LOOK_SECONDS = 1.0  # between two looks at whether somebody waits for this worker
watched: Callable[[], bool] = bool
"""Whether somebody looks at something that this worker could do at once, or will soon; `evaluation.apps` sets it."""

_flag = mmap.mmap(-1, 1)
_looked = [0.0]


class SliceOver(Exception):
    """Raised by work that ends before it is done, to free its worker: it is queued again, behind what waits."""


def ask() -> None:
    _flag[0] = 1


def asked() -> bool:
    return _flag[0] == 1


def makes_way() -> bool:
    """Whether long work that nobody watches should free its worker for work that somebody watches. May be asked at
    every batch: the database is only asked every LOOK_SECONDS."""
    now = time.monotonic()
    if now - _looked[0] < LOOK_SECONDS:
        return False
    _looked[0] = now
    return watched()


def forget() -> None:
    """Forget that a stop was asked for and when it was last looked; for tests."""
    _flag[0], _looked[0] = 0, 0.0
