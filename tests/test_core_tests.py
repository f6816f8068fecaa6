"""`make test-core`: what it loads; `make lint`: which tests it runs, and that CI does not run them twice."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import CORE
from tests.test_imports import MODEL_PACKAGES, ROOT, SHELL_PACKAGES

TESTS = ROOT / "tests"
LOADED = """
import sys, pytest
pytest.main(["--core", "--disable-plugin-autoload", "--collect-only", "-qq"])
print(",".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.slow
def test_the_tests_of_the_cores_load_neither_django_nor_a_model_library() -> None:
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120, check=True)
    *collected, loaded = done.stdout.strip().splitlines()
    assert sum("::" in line or ".py" in line for line in collected) >= len(CORE)
    assert set(loaded.split(",")) & (SHELL_PACKAGES | MODEL_PACKAGES) == set()


@pytest.mark.parametrize("pattern", CORE)
def test_every_pattern_names_a_file(pattern: str) -> None:
    assert list(TESTS.glob(pattern))


STRUCTURE = {"imports", "names", "verbs", "sizes", "wiring", "docs_cited", "unused", "typed", "relations"}


def command_of(target: str) -> str:
    """What make would run for a target."""
    command = ["make", "--dry-run", "--always-make", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout


def test_lint_holds_the_structure_and_ci_runs_it_once() -> None:
    """The tests that read every module of the product are those of lint, and of nothing else."""
    files = {f"tests/test_{name}.py" for name in STRUCTURE}
    assert set(re.findall(r"(?<!=)tests/test_\w+\.py", command_of("lint"))) == files
    for target in ("test", "test-all"):
        assert set(re.findall(r"--ignore=(tests/test_\w+\.py)", command_of(target))) == files
    assert re.findall(r'-m "([^"]*)"', command_of("test-all")) == [
        f"{which} and not gpu and not live" for which in ("timed", "not timed")
    ]
    run_by_ci = (ROOT / ".ci" / "run").read_text("utf-8").split("\n")
    assert {"make --jobs=2 --output-sync=target warm lint gates", "exec make test-all"} <= set(run_by_ci)
