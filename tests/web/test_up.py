"""`manage.py up`, which `make run` calls: everything starts, answers, stops with Ctrl-C, and starts again quickly."""

import json
import os
import signal
import socket
import time

import psutil
import pytest

from tests.contention import contention_of_all_cores
from tests.web.running_up import (
    MOST_SECONDS,
    data_folder,
    free_port,
    left_running,
    read_until,
    start,
    stop,
    wait_until_healthy,
)

pytestmark = [pytest.mark.slow, pytest.mark.whole_app]


@pytest.fixture
def var():
    with data_folder() as folder:
        yield folder


@pytest.mark.timed
def test_it_starts_tells_the_way_to_the_first_account_and_leaves_nothing_running(var):
    port = free_port()
    process = start(var, port)
    wait_until_healthy(port)
    second = start(var, port)
    refusal, _ = second.communicate(timeout=MOST_SECONDS)
    assert second.returncode != 0
    assert "already running" in refusal
    output = stop(process)
    assert process.returncode == 0, output
    assert f"http://localhost:{port}/invites/" in output
    assert "Traceback" not in output
    assert left_running(var) == []

    blocker = socket.create_server(("127.0.0.1", port))
    try:
        blocked, _ = start(var, port).communicate(timeout=MOST_SECONDS)
    finally:
        blocker.close()
    assert f"cannot listen on 127.0.0.1:{port}" in blocked
    assert "Traceback" not in blocked

    slower = [contention_of_all_cores()]
    process = start(var, port)
    seconds = wait_until_healthy(port)
    slower.append(contention_of_all_cores())
    # All who would restart it at once: children and servers stay behind.
    supervisor = json.loads((var / "up.lock").read_text())["pid"]
    guard = next(p for p in psutil.Process(supervisor).children() if p.environ()["SUPERVISOR_PROCESS_NAME"] == "guard")
    for pid in (guard.pid, supervisor, process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert seconds / max(slower) < 5
    assert left_running(var)

    process = start(var, port)
    output = read_until(process, "WebNav is starting")  # before that, what was left behind may still answer
    assert "had left behind" in output
    wait_until_healthy(port)
    stop(process)
    assert left_running(var) == []


def test_a_start_that_cannot_listen_leaves_the_lock_to_another(var):
    """It would be told that this one runs already, and then none did."""
    with socket.create_server(("127.0.0.1", 0)) as blocker:
        port = blocker.getsockname()[1]
        said, _ = start(var, port).communicate(timeout=MOST_SECONDS)
    assert f"cannot listen on 127.0.0.1:{port}" in said
    assert not (var / "up.lock").exists()


def test_of_two_starts_at_once_one_runs_and_the_other_says_why_not(var):
    ports = [free_port(), free_port()]
    both = [start(var, port) for port in ports]
    deadline = time.monotonic() + MOST_SECONDS
    while all(process.poll() is None for process in both) and time.monotonic() < deadline:
        time.sleep(0.1)
    ended = [process for process in both if process.poll() is not None]
    assert len(ended) == 1
    assert "already running" in ended[0].communicate()[0]
    (running,) = [place for place, process in enumerate(both) if process not in ended]
    wait_until_healthy(ports[running])
    os.killpg(both[running].pid, signal.SIGINT)
    time.sleep(0.5)
    os.killpg(both[running].pid, signal.SIGINT)  # in a hurry
    begun = time.monotonic()
    both[running].communicate(timeout=MOST_SECONDS)
    assert time.monotonic() - begun < 20
    assert left_running(var) == []
