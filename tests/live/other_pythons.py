"""Pythons with packages that are not installed beside ours: named by a setting, else made for the tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.beside import HARNESS, needs

INSTALLING_SECONDS = 300
# Its experiments import tqdm, and do not say so.
BROWSERGYM = ("browsergym-miniwob==0.14.3", "browsergym-experiments==0.14.3", "tqdm")
WEBARENA = ("webarena-verified==1.2.3",)
CUBE = ("miniwob-cube==1.1.0", "cube-standard==0.1.0rc10")
CUBE_HARNESS = ("cube-harness==0.1.0rc2", *CUBE)


def python(setting: str, packages: tuple[str, ...], folder: Path, least: tuple[int, int] = (3, 11)) -> str:
    """The Python that a setting names, else one of a new virtual environment. Skips, with the reason, where it cannot
    be had."""
    if named := os.environ.get(setting):
        return named
    base = _at_least(least)
    if base is None:
        pytest.skip(needs(HARNESS, f"{packages[0]} runs on Python {least[0]}.{least[1]}, and {setting} names none"))
    made = folder / "venv"
    command = [str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
    try:
        subprocess.run([base, "-m", "venv", str(made)], check=True, capture_output=True, text=True, timeout=120)
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALLING_SECONDS)
    except subprocess.CalledProcessError as error:
        words = error.stderr.strip().rpartition("\n")[2]
        pytest.skip(needs(HARNESS, f"{packages[0]} could not be installed: {words}"))
    except subprocess.TimeoutExpired:
        pytest.skip(needs(HARNESS, f"{packages[0]} was not installed within {INSTALLING_SECONDS} s"))
    return command[0]


def _at_least(version: tuple[int, int]) -> str | None:
    """A Python of this version or a later one, by its name on the PATH or where pyenv keeps them."""
    if sys.version_info[:2] >= version:
        return sys.executable
    for minor in range(version[1], version[1] + 3):
        kept = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version[0]}.{minor}.*/bin/python"))
        for one in (*map(str, kept), f"python{version[0]}.{minor}"):
            if shutil.which(one) and not subprocess.run([one, "-V"], capture_output=True).returncode:
                return one
    return None
