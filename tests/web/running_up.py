"""A `manage.py up` with a data folder of its own, for tests that start, stop and kill it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from webnav_site.supervision.processes import MARK

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS = 300.0  # on a busy machine; what a start may take is tested where that is the question


@contextmanager
def data_folder() -> Iterator[Path]:
    """A data folder that another user can enter: PostgreSQL does not run as root."""
    folder = Path("/var/tmp" if os.geteuid() == 0 else "/tmp") / f"webnav-test-{uuid4().hex[:8]}"
    folder.mkdir(mode=0o755)
    yield folder
    kill_left(folder)
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(
    var: Path, port: int, *arguments: str, stdout: Any = subprocess.PIPE, changed: Mapping[str, str] | None = None
) -> subprocess.Popen:
    """`stdout`: a file where nobody reads meanwhile, as a full pipe would hold the app up. `changed`: variables of its
    environment."""
    own = {"DATABASE_URL", "REDIS_URL", "PORT", "APP_ORIGIN", "SNAPSHOT_ORIGIN", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"}
    own |= {"PYTHONUNBUFFERED", "LLM_EMBEDDED", "MODEL_ROOT"}  # as where nobody has set it
    environment = {key: value for key, value in os.environ.items() if key not in own}
    environment |= {"WEBNAV_VAR": str(var), "PORT": str(port)} | dict(changed or {})
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--sample", "no", *arguments]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
        stdout=stdout,
        stderr=subprocess.STDOUT,
    )


def heed_ctrl_c() -> None:
    """A shell that runs the tests in the background ignores Ctrl-C, and what it starts inherits that: a stop would be
    waited for in vain, and the app would live on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until_healthy(port: int, seconds: float = MOST_SECONDS) -> float:
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/healthz", timeout=2) as answer:
                if answer.status == 200:
                    return time.monotonic() - begun
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    raise AssertionError(f"not healthy within {seconds} s")


def ours(var: Path) -> list[psutil.Process]:
    """Processes that belong to this data folder: the app's, PostgreSQL and Redis."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            told = " ".join(process.info["cmdline"] or [])
            # Redis writes its title over its command line and environment; the servers work inside the folder.
            inside = Path(process.cwd()).is_relative_to(var)
            named = {process.environ().get(name) for name in ("WEBNAV_VAR", MARK)}
            if inside or str(var) in told or str(var) in named:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_left(var: Path) -> None:
    """Ends what a test left of this data folder."""
    kill_all(ours(var))


def kill_all(processes: list[psutil.Process]) -> None:
    """And waits for them; what ends by itself meanwhile is no error."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=10)


def left_running(var: Path) -> list[str]:
    return [" ".join(process.info["cmdline"] or []) for process in ours(var)]


def read_until(process: subprocess.Popen, text: str) -> str:
    """Output up to the line that holds `text`; all of it when the process ends first."""
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            break
    return "".join(lines)


def stop(process: subprocess.Popen) -> str:
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    return output
