"""Real Celery workers for tests: a process group on the test database that can be killed like by the kernel."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import redis
from django.conf import settings

from tests.app_server import database_url

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A worker of the queue gpu with one child process, as the Procfile starts it."""

    def __init__(self, log: Path, module: str = "webnav_site") -> None:
        self.log = log
        command = [
            sys.executable,
            "-m",
            "celery",
            "--quiet",
            "-A",
            module,
            "worker",
            "-Q",
            "gpu",
            "-c",
            "1",
            "-n",
            f"{log.stem}@test",
            "--without-gossip",
            "--without-mingle",
            "--loglevel",
            "info",
        ]
        with log.open("w") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment(), stdout=output, stderr=output, start_new_session=True
            )

    def kill(self) -> None:
        """kill -9 of the worker and its child, no chance to clean up."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)

    def stop(self) -> None:
        """End it if it still runs, in whatever way."""
        try:
            self.kill()
        except ProcessLookupError:
            self.process.wait(timeout=10)

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Look until the condition holds; fails with the worker's log."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, f"the worker ended by itself:\n{self.tail()}"
            assert time.monotonic() < deadline, f"no {what} within {seconds:.0f} s:\n{self.tail()}"
            time.sleep(0.02)

    def tail(self) -> str:
        return self.log.read_text()[-3000:]


def environment() -> dict[str, str]:
    """Variables of a process on the test database and the tests' broker."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "CELERY_BROKER_URL": settings.CELERY_BROKER_URL,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",  # several processes share the machine: spinning threads would slow all of them
    }


def empty_broker() -> None:
    """Forget messages of other tests."""
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as server:
        server.flushdb()
