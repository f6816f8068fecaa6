"""Whether this worker has been told to stop: long work then ends its slice at the next batch and is put back.

One byte of memory that a worker's main process shares with the processes it has forked: only the main process gets the
signal, and only they do the work.
"""

import mmap
import time
from collections.abc import Callable

LOOK_SECONDS = 1.0  # between two looks at whether somebody waits for this worker
watched: Callable[[], bool] = bool
"""Whether somebody looks at something that this worker could do at once; `evaluation.apps` sets it."""

_flag = mmap.mmap(-1, 1)
_looked = [0.0]


class SliceOver(Exception):
    """Work gives its worker back: it goes on in another task, behind what waits."""


def ask() -> None:
    _flag[0] = 1


def asked() -> bool:
    return _flag[0] == 1


def makes_way() -> bool:
    """Whether long work that nobody looks at gives its worker to what somebody looks at. It may be asked at every
    batch."""
    now = time.monotonic()
    if now - _looked[0] < LOOK_SECONDS:
        return False
    _looked[0] = now
    return watched()


def forget() -> None:
    """For tests: as if no stop had been asked for, and nobody had looked."""
    _flag[0], _looked[0] = 0, 0.0
