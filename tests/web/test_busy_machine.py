"""A web process that gets no processor for a while is not taken for a hung one: on a busy machine none would ever
come as far as to answer, as each was replaced while it started."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.web.running_up import free_port, kill_all

ROOT = Path(__file__).resolve().parents[2]
APPLICATION = """
async def application(scope, receive, send):
    pass
"""
PAUSE_SECONDS = 9  # uvicorn's own patience is 5


def options() -> list[str]:
    """Those of `make run` that say for how long its processes may be silent."""
    words = shlex.split((ROOT / "Procfile").read_text().split("\nweb: exec ")[1].split("\n")[0])
    return [word for at, word in enumerate(words) for name in words[at - 1 : at + 1] if name.startswith("--timeout-")]


def children(parent: psutil.Process) -> set[int]:
    return {child.pid for child in parent.children() if any("spawn_main" in part for part in child.cmdline())}


@pytest.mark.slow
def test_a_web_process_that_was_paused_is_kept(tmp_path: Path) -> None:
    (tmp_path / "paused.py").write_text(APPLICATION)
    command = [sys.executable, "-m", "uvicorn", "paused:application", "--port", str(free_port()), "--workers", "2"]
    server = subprocess.Popen([*command, *options(), "--lifespan", "off"], cwd=tmp_path)
    try:
        parent, deadline = psutil.Process(server.pid), time.monotonic() + 60
        while len(before := children(parent)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        paused = psutil.Process(min(before))
        paused.send_signal(signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        paused.send_signal(signal.SIGCONT)
        time.sleep(1)
        assert paused.pid in children(parent)
    finally:
        kill_all([*psutil.Process(server.pid).children(recursive=True), psutil.Process(server.pid)])
        server.wait()
