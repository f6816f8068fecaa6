"""A clone in a home that is closed to others, as root's is in containers and on most cloud machines."""

import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.web.running_up import ROOT, free_port, heed_ctrl_c, kill_left, left_running, wait_until_healthy
from webnav_site.embedded import machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.whole_app,
    pytest.mark.skipif(os.geteuid() != 0, reason="only for root does PostgreSQL run as another user"),
]
FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


@pytest.fixture
def clone() -> Iterator[Path]:
    """The files of this clone and its packages, below a folder with mode 0700."""
    home = Path("/var/tmp") / f"webnav-home-{uuid4().hex[:8]}"
    home.mkdir(mode=0o700)
    clone = home / "clone"
    for name in subprocess.run(["git", *FILES], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0"):
        if name and (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    (clone / ".venv").symlink_to((ROOT / ".venv").resolve())
    yield clone
    var = machine.var_folder(clone, {})
    kill_left(var)
    shutil.rmtree(var, ignore_errors=True)
    shutil.rmtree(home)


def environment() -> dict[str, str]:
    """As after a log-in: nothing of this test run."""
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root")}


def test_make_run_finds_a_folder_that_works_says_which_and_leaves_the_home_closed(clone: Path) -> None:
    port, var = free_port(), machine.var_folder(clone, {})
    process = subprocess.Popen(
        ["make", "--no-print-directory", "run", f"PORT={port}", "SAMPLE=no", "--assume-old=.venv/installed"],
        cwd=clone,
        env=environment(),
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_until_healthy(port)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        told, _ = process.communicate(timeout=120)
    assert f"keeping data in {var}, as {clone.parent} is closed" in told
    assert var.is_relative_to("/var/lib/webnav")
    assert stat.S_IMODE(clone.parent.stat().st_mode) == 0o700
    assert not (clone / "var").exists()
    deadline = time.monotonic() + 30
    while left_running(var) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left_running(var) == []


def test_tests_with_a_database_pass_there(clone: Path) -> None:
    command = [".venv/bin/python", "-m", "pytest", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/annotations/test_leases.py", "tests/conformance/test_op_f1.py"],
        cwd=clone,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed, " in done.stdout.splitlines()[-1]
    assert "failed" not in done.stdout.splitlines()[-1]
    assert stat.S_IMODE(clone.parent.stat().st_mode) == 0o700
