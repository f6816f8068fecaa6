"""Whether this worker has been told to stop: long work then ends its slice at the next batch and is put back.

One byte of memory that a worker's main process shares with the processes it has forked: only the main process gets the
signal, and only they do the work.
"""

import mmap

_flag = mmap.mmap(-1, 1)


class SliceOver(Exception):
    """Work gives its worker back: it goes on in another task, behind what waits."""


def ask() -> None:
    _flag[0] = 1


def asked() -> bool:
    return _flag[0] == 1


def forget() -> None:
    """For tests: as if no stop had been asked for."""
    _flag[0] = 0
