"""Tests that start the whole app, as `make run` does, run one after the other, in one of the parallel processes.

A dozen of processes start with it, and each takes seconds of a processor before it answers: two or three apps at once
starve each other until none answers in time. A file says so by the marker `whole_app`.
"""

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

MARKER = "whole_app"


class OneApp(LoadFileScheduling):
    """Gives the tests of a file to one process, and those of all such files."""

    def _split_scope(self, nodeid: str) -> str:
        return piece_of_work(self.config.rootpath, nodeid)


def piece_of_work(root: Path, nodeid: str) -> str:
    """What one process does as a whole."""
    file = nodeid.partition("::")[0]
    return MARKER if starts_the_app(root / file) else file


@cache
def starts_the_app(file: Path) -> bool:
    return f"pytest.mark.{MARKER}" in file.read_text()
