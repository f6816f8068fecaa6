"""Whatever is wrong with a file, reading it ends soon and gives what readers promise: records and defects."""

import random
import time
from pathlib import Path

import pytest

from annotations.sandbox.deadline import page_deadline
from tests.fuzz.formats import FORMATS

SECONDS = 4.0  # of processor time for one file
HANGS = 60.0  # seconds after which a file is given up
FEW, MANY = 12, 250


def read_broken(name: str, number: int, folder: Path) -> None:
    """Write the file with this number and read it."""
    folder.mkdir()
    made = FORMATS[name]
    made.write(folder, random.Random(f"{name} {number}"))
    begun = time.process_time()
    with page_deadline(HANGS):
        made.read(folder)
    took = time.process_time() - begun
    assert took < SECONDS, f"file {number} took {took:.1f} s"


def read_all(name: str, numbers: range, folder: Path) -> None:
    wrong = []
    for number in numbers:
        try:
            read_broken(name, number, folder / str(number))
        except Exception as error:
            wrong.append(f"file {number}: {type(error).__name__}: {str(error)[:200]}")
    assert wrong == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_few_broken_files_are_read(name, tmp_path) -> None:
    read_all(name, range(FEW), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_many_broken_files_are_read(name, tmp_path) -> None:
    read_all(name, range(FEW, MANY), tmp_path)
