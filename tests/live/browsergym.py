"""A Python that has BrowserGym: the one that $BROWSERGYM_PYTHON names, else a virtual environment made for tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.beside import BROWSERGYM, needs

# Its experiments import tqdm, and do not say so.
PACKAGES = ("browsergym-miniwob==0.14.3", "browsergym-experiments==0.14.3", "tqdm")
INSTALLING_SECONDS = 300


def python(folder: Path) -> str:
    """Skips, with the reason, where it cannot be had."""
    named = os.environ.get("BROWSERGYM_PYTHON")
    if named:
        return named
    made = folder / "browsergym"
    command = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(made)], check=True, capture_output=True, timeout=120)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALLING_SECONDS)
    except subprocess.CalledProcessError as error:
        words = f"{error.stderr}".strip().rpartition("\n")[2]
        pytest.skip(needs(BROWSERGYM, f"it could not be installed: {words}"))
    except subprocess.TimeoutExpired:
        pytest.skip(needs(BROWSERGYM, f"it was not installed within {INSTALLING_SECONDS} s"))
    return command[0]
