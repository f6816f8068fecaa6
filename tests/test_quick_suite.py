"""Quick cases that use too much of a processor fail CI's run by name; how many are left to it is the closing line's."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.quick import first_is_quick
from tests.quick_suite import QuickSuite, too_much

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
from tests.quick_suite import QuickSuite

def pytest_configure(config):
    config.pluginmanager.register(QuickSuite(together={together}, each={each}))
"""
CASES = """
import subprocess, sys, time
import pytest

WORK = "import time\\nwhile time.process_time() < 0.5: pass"

@pytest.mark.slow
def test_slow():
    works_itself()

def works_itself():
    until = time.process_time() + 0.5
    while time.process_time() < until:
        pass

def test_works_itself():
    works_itself()

def test_has_another_work():
    subprocess.run([sys.executable, "-S", "-c", WORK], check=True)

@pytest.fixture(scope="module")
def server():
    serving = subprocess.Popen([sys.executable, "-S", "-c", WORK])
    yield serving
    serving.wait()

def test_asks_a_server(server):
    pass

def test_waits():
    time.sleep(0.7)
"""
INI = """
[pytest]
testpaths = .
markers = slow
"""


def run(folder: Path, *arguments: str, together: float = 420.0, each: float = 4.0) -> tuple[int, str]:
    (folder / "conftest.py").write_text(CONFTEST.format(together=together, each=each))
    (folder / "test_cases.py").write_text(CASES)
    (folder / "pytest.ini").write_text(INI)
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:cacheprovider", "-n", "2", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_case_that_works_too_long_fails_the_whole_run_whoever_does_its_work(tmp_path: Path) -> None:
    code, told = run(tmp_path, each=0.4)
    assert (code, "5 passed, 1 error" in told) == (1, True), told
    assert "2 of the quick cases used more than 0.4 seconds of a processor" in told
    listed = [line.split("::")[1] for line in told.splitlines() if " s  test_cases.py::" in line]
    assert set(listed[:2]) == {"test_works_itself", "test_has_another_work"}
    assert set(listed[2:]) == {"test_waits", "test_asks_a_server"}


@pytest.mark.slow
def test_many_cases_that_are_quick_each_may_be_too_much_together(tmp_path: Path) -> None:
    code, told = run(tmp_path, together=0.9)
    assert (code, "5 passed, 1 error" in told) == (1, True), told
    assert "of 1 seconds of a processor: make the largest cheaper" in told


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["-m", "not slow"], ["-k", "test"], ["test_cases.py"]], ids=str)
def test_no_run_of_a_part_fails_of_it(tmp_path: Path, arguments: list[str]) -> None:
    code, told = run(tmp_path, *arguments, together=0.1, each=0.1)
    assert (code, "error" in told) == (0, False), told


@pytest.mark.slow
def test_the_closing_line_says_how_many_cases_are_left_to_ci(tmp_path: Path) -> None:
    for arguments, wanted in (
        (["-m", "not slow"], "4 passed, 1 left to CI (make test-all) in"),
        (["-m", "not slow", "-n", "0"], "1 left to CI (make test-all) in"),
        (["-m", "not slow", "-k", "works or slow"], "1 passed, 1 left to CI (make test-all) in"),
    ):
        assert wanted in run(tmp_path, *arguments)[1].splitlines()[-1]
    assert "left to CI" not in run(tmp_path)[1]


def test_what_fits_is_not_told() -> None:
    assert too_much({"a": 1.0, "b": 2.0}, together=3.0, each=2.0) == ""


def test_a_machine_that_is_slower_today_makes_no_case_more_expensive() -> None:
    suite = QuickSuite()
    suite.costs = {"a": 3.0, "b": 1.0}
    assert suite.on_a_usual_machine() == {"a": 3.0, "b": 1.0}
    suite.paces = [1.0, 2.0]
    assert suite.on_a_usual_machine() == {"a": 2.0, "b": 1.0 / 1.5}


def test_the_ten_largest_are_named() -> None:
    costs = {f"case {number}": float(number) for number in range(1, 31)}
    first, *named = too_much(costs, together=400.0, each=100.0).splitlines()
    assert first.startswith("All quick cases used 465 of 400 seconds of a processor")
    assert [line.split("  ")[-1] for line in named] == [f"case {number}" for number in range(30, 20, -1)]
    first, *named = too_much(costs, together=500.0, each=28.0).splitlines()
    assert first.startswith("2 of the quick cases used more than 28 seconds")
    assert len(named) == 10


@pytest.mark.parametrize(
    ("names", "values", "wanted"),
    [
        ("one", [1, 2, 3], [(1,), (2,), (3,)]),
        ("one", [(1, 2), (3, 4)], [((1, 2),), ((3, 4),)]),
        ("one, two", [(1, 2), (3, 4)], [(1, 2), (3, 4)]),
        (("one", "two"), [(1, 2), pytest.param(3, 4, id="x", marks=pytest.mark.gpu)], [(1, 2), (3, 4)]),
    ],
)
def test_the_first_of_many_cases_is_quick_and_all_are_there(
    names: str | tuple[str, ...], values: list, wanted: list[tuple]
) -> None:
    mark = first_is_quick(names, values).mark
    assert mark.args[0] == names
    first, *others = mark.args[1]
    assert first == values[0]
    assert [case.values for case in others] == wanted[1:]
    assert all("slow" in [mark.name for mark in case.marks] for case in others)
    if names == ("one", "two"):
        assert (others[-1].id, [mark.name for mark in others[-1].marks]) == ("x", ["gpu", "slow"])
