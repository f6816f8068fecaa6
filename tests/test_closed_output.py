"""Commands whose output nobody reads to its end, as of `manage.py recipes NAME | head -1`."""

import os
import subprocess
import sys

import pytest

from tests.quick import first_is_quick
from tests.test_imports import ROOT


@pytest.mark.slow
@first_is_quick(("command", "unbuffered"), [("help", ""), ("help", "1"), ("--help", ""), ("--version", "")])
def test_a_command_ends_without_a_word_where_its_output_is_closed(command: str, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", command],
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.stderr, done.returncode) == ("", 141)
