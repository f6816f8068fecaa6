"""A test that measures time and fails is tried again while no other runs.

The parallel processes of a run keep both cores busy, so what a test has measured may be theirs. Each test of a process
holds the room together with the others; a second try waits at the gate until they have ended, keeps the next ones out,
and has the room for itself. One that takes minutes is not waited for longer than `PATIENCE`.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

PATIENCE = 30.0  # seconds, in which the other processes wait, too
FOLDER = "WEBNAV_TESTS_TOGETHER"  # the environment's name of the folder that the processes of a run share


class Quiet:
    """Of one process; the first that is made, in the process that starts the others, makes what they share."""

    def __init__(self, config: pytest.Config, patience: float = PATIENCE) -> None:
        if not hasattr(config, "workerinput"):  # also a run that a test starts
            made = tempfile.TemporaryDirectory(prefix="webnav-tests-")
            config.add_cleanup(made.cleanup)
            os.environ[FOLDER] = made.name
        folder = Path(os.environ[FOLDER])
        self.gate, self.room = (folder / "gate").open("w"), (folder / "room").open("w")
        config.add_cleanup(self.gate.close)
        config.add_cleanup(self.room.close)
        self.patience = patience

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.enter()
        try:
            return (yield)
        finally:
            self.leave()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if getattr(item, "execution_count", 1) > 1 and item.get_closest_marker("timed"):
            self.leave()
            self.enter_alone()

    def enter(self) -> None:
        fcntl.flock(self.gate, fcntl.LOCK_SH)
        fcntl.flock(self.room, fcntl.LOCK_SH)
        fcntl.flock(self.gate, fcntl.LOCK_UN)

    def enter_alone(self) -> None:
        fcntl.flock(self.gate, fcntl.LOCK_EX)
        until = time.monotonic() + self.patience
        while not taken(self.room) and time.monotonic() < until:
            time.sleep(0.05)

    def leave(self) -> None:
        fcntl.flock(self.room, fcntl.LOCK_UN)
        fcntl.flock(self.gate, fcntl.LOCK_UN)


def taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
