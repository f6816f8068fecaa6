"""`make test-core`: what it loads."""

import os
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


def test_the_tests_of_the_cores_load_neither_django_nor_a_model_library() -> None:
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120, check=True)
    *collected, loaded = done.stdout.strip().splitlines()
    assert sum("::" in line or ".py" in line for line in collected) >= len(CORE)
    assert set(loaded.split(",")) & (SHELL_PACKAGES | MODEL_PACKAGES) == set()


@pytest.mark.parametrize("pattern", CORE)
def test_every_pattern_names_a_file(pattern: str) -> None:
    assert list(TESTS.glob(pattern))
