"""kill -9 of the web server's processes: what its parent leaves listening on the port ends before the next one starts,
and a child is replaced by one that shares what the parent has loaded."""

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.contention import contention_of_all_cores
from tests.evaluation.workers import ROOT, environment
from tests.web.running_up import data_folder, free_port, wait_until_healthy
from webnav_site.supervision import processes

pytestmark = [pytest.mark.slow, pytest.mark.whole_app, pytest.mark.django_db(transaction=True)]
RECOVERY_SECONDS = 30


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Callable[[], psutil.Process]]]:
    """A port, and what starts the Procfile's web server there as supervisord does."""
    with data_folder() as var:
        port = free_port()
        own = {"WEBNAV_VAR": str(var), processes.MARK: str(var), processes.PROGRAM: "web"}
        own |= {"PYTHON": sys.executable, "BIND": "127.0.0.1", "PORT": str(port)}

        def start() -> psutil.Process:
            command = [sys.executable, "-m", "webnav_site.supervision.launch", "web"]
            with (var / "log").open("a") as log:
                process = subprocess.Popen(
                    command, cwd=ROOT, env=environment() | own, stdout=log, stderr=log, start_new_session=True
                )
            return psutil.Process(process.pid)

        yield port, start


def listening(port: int) -> set[int]:
    """Who answers there."""
    inodes = {
        line.split()[9]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == port
    }
    return {process.pid for process in psutil.process_iter() if holds(process, inodes)}


def holds(process: psutil.Process, inodes: set[str]) -> bool:
    try:
        links = [str(link.readlink()) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
    except OSError:
        return False
    return any(link == f"socket:[{inode}]" for link in links for inode in inodes)


def answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def test_the_orphans_of_a_killed_web_server_give_up_its_port_and_the_next_one_answers_within_30_s(launched) -> None:
    port, start = launched
    parent = start()
    wait_until_healthy(port)
    orphans = {child.pid for child in parent.children(recursive=True)}
    assert listening(port) & orphans, "uvicorn's children listen themselves"
    parent.send_signal(signal.SIGKILL)
    psutil.wait_procs([parent], timeout=10)
    assert listening(port) <= orphans
    assert answers(port), "they go on without their parent"
    following = start()
    begun = time.monotonic()
    while not (answers(port) and listening(port) - orphans):
        assert time.monotonic() - begun < 90
        time.sleep(0.1)
    seconds = time.monotonic() - begun
    own = {following.pid, *(child.pid for child in following.children(recursive=True))}
    assert listening(port) <= own
    assert not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in orphans)
    assert seconds / max(1.0, contention_of_all_cores()) < RECOVERY_SECONDS


def shared(process: psutil.Process) -> float:
    """The part of a process's memory, without what nobody else uses."""
    memory = process.memory_full_info()
    return 1 - memory.uss / memory.rss


def test_a_child_that_died_is_replaced_by_one_that_loads_nothing(launched) -> None:
    port, start = launched
    parent = start()
    wait_until_healthy(port)
    before = parent.children()
    assert len(before) == 2
    loading = parent.cpu_times().user
    assert max(child.cpu_times().user for child in before) < loading / 2
    assert min(map(shared, before)) > 0.5
    before[0].kill()
    begun = time.monotonic()
    while not (new := [child for child in parent.children() if child not in before]):
        assert time.monotonic() - begun < 60
        time.sleep(0.05)
    assert answers(port)
    assert [child in parent.children() for child in before] == [False, True]
    assert shared(new[0]) > 0.5
