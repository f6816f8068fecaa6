"""A second try of a test that measures time runs while no other does, and keeps nobody waiting for ever."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
import pytest
from tests.quiet import Quiet

def pytest_configure(config):
    config.pluginmanager.register(Quiet(config, patience={patience}))

def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=0))
"""
# Each writes when it began and ended.
OTHERS = """
import time, pytest

@pytest.mark.parametrize("number", range({count}))
def test_another(number):
    begun = time.monotonic()
    time.sleep({seconds})
    open("{file}", "a").write(f"{{begun}} {{time.monotonic()}} other\\n")
"""
TIMED = """
import time, pytest
tries = []

def test_waits():
    time.sleep(0.2)  # until the others run

@pytest.mark.timed
def test_timed():
    begun = time.monotonic()
    time.sleep(0.3)
    tries.append("try")
    open("{file}", "a").write(f"{{begun}} {{time.monotonic()}} try{{len(tries)}}\\n")
    assert len(tries) == 3
"""


def run(folder: Path, count: int, seconds: float, patience: float) -> list[tuple[float, float, str]]:
    """Who ran from when to when, in the order of the ends."""
    told = folder / "told"
    (folder / "conftest.py").write_text(CONFTEST.format(patience=patience))
    (folder / "test_others.py").write_text(OTHERS.format(count=count, seconds=seconds, file=told))
    (folder / "test_timed.py").write_text(TIMED.format(file=told))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timed\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:cacheprovider", "-n", "2"]
    command += ["--dist", "loadfile"]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300
    )
    assert f"{count + 2} passed, 2 rerun" in done.stdout, done.stdout
    return [(float(begun), float(ended), name) for begun, ended, name in map(str.split, told.read_text().splitlines())]


@pytest.mark.slow
def test_only_the_first_try_has_others_beside_it(tmp_path: Path) -> None:
    spans = sorted(run(tmp_path, count=20, seconds=0.1, patience=30.0))
    beside = {after[2] for before, after in pairwise(spans) if after[0] < before[1]}
    beside |= {before[2] for before, after in pairwise(spans) if after[0] < before[1]}
    assert beside == {"other", "try1"}
    names = [name for _, _, name in spans]
    assert names[-1] == "other"  # they went on afterwards
    assert {"try2", "try3"} < set(names)


@pytest.mark.slow
def test_what_takes_long_is_not_waited_for(tmp_path: Path) -> None:
    spans = {name: (begun, ended) for begun, ended, name in run(tmp_path, count=1, seconds=5.0, patience=0.5)}
    assert spans["try3"][1] < spans["other"][1]
