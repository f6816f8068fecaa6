"""The whole sample, built once for all processes of a run: it takes seconds. Tests read it and leave it as it is."""

import fcntl
import os
from pathlib import Path

import pytest

from annotations.sample.build import build


def built_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "built-sample"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            build(unfinished)
            unfinished.rename(folder)
    return folder
