"""Hosts made of namespaces: each has its own processes, its own network and its own clone; all have one host name."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
BRIDGE, NET = f"wn{os.getpid()}", f"10.213.{os.getpid() % 250 + 1}"  # runs beside each other have their own
SHARED = f"{NET}.1"  # where the hosts find database, broker and object store


def sh(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")


@contextmanager
def network() -> Iterator[None]:
    """A bridge that hosts are plugged into. OSError where the system does not let us make one."""
    remove_left_bridges()
    sh("ip", "link", "add", BRIDGE, "type", "bridge")
    try:
        sh("ip", "addr", "add", f"{SHARED}/24", "dev", BRIDGE)
        sh("ip", "link", "set", BRIDGE, "up")
        yield
    finally:
        sh("ip", "link", "del", BRIDGE)


def remove_left_bridges() -> None:
    """Those of killed runs: they hold the addresses, and what is sent to a host of ours would go to them."""
    for link in Path("/sys/class/net").iterdir():
        if (found := re.fullmatch(r"wn(\d+)", link.name)) and not psutil.pid_exists(int(found[1])):
            sh("ip", "link", "del", link.name)


class Host:
    """One machine: a clone with an own `var/`, in namespaces of its own."""

    def __init__(self, folder: Path, number: int, environment: dict[str, str]) -> None:
        self.clone, self.var, self.logs = folder / "clone", folder / "var", folder / "logs"
        self.logs.mkdir(parents=True)
        self.address = f"{NET}.{number + 10}"
        sh("git", "clone", "--quiet", "--shared", str(ROOT), str(self.clone))
        origin = f"http://{self.address}:8000"
        own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = (
            own
            | environment
            | {
                "WEBNAV_VAR": str(self.var),
                "PORT": "8000",
                "OMP_NUM_THREADS": "1",
                "HF_HUB_OFFLINE": "1",
                "ALLOWED_HOSTS": self.address,
                "APP_ORIGIN": origin,
                "SNAPSHOT_ORIGIN": "",
            }
        )
        self.started: list[subprocess.Popen] = []
        self.init = self._boot(number)

    def _boot(self, number: int) -> int:
        """The first process of the machine; its number as we see it."""
        outer = subprocess.Popen(
            ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "sleep", "infinity"]
        )
        self.started.append(outer)
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        wait(lambda: bool(children.read_text().split()), 10, "first process of a host")
        init, link = int(children.read_text().split()[0]), f"{BRIDGE}v{number}"
        sh("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(init))
        sh("ip", "link", "set", link, "master", BRIDGE, "up")
        inside = ["nsenter", "-t", str(init), "--net", "ip"]
        sh(*inside, "addr", "add", f"{self.address}/24", "dev", "eth0")
        sh(*inside, "link", "set", "eth0", "up")
        sh(*inside, "link", "set", "lo", "up")
        return init

    def _inside(self, words: list[str]) -> list[str]:
        return ["nsenter", "-t", str(self.init), "--net", "--pid", "--mount", f"--wd={self.clone}", *words]

    def start(self, name: str, *words: str) -> subprocess.Popen:
        """Start `python WORDS`; its output goes into a log of this name."""
        with (self.logs / name).open("a") as log:
            process = subprocess.Popen(
                self._inside([sys.executable, *words]), env=self.environment, stdout=log, stderr=log
            )
        self.started.append(process)
        return process

    def manage(self, *words: str, seconds: float = 300) -> str:
        """What a command of manage.py prints."""
        done = subprocess.run(
            self._inside([sys.executable, "manage.py", *words]),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-800:]}\n{done.stderr[-3000:]}\n{self.tail()}"
        return done.stdout

    def serve(self) -> None:
        self.manage("collectstatic", "--noinput", "-v", "0")
        self.start("web", "-m", "uvicorn", "webnav_site.asgi:application", "--host", self.address, "--port", "8000")

    def work(self) -> None:
        """Start a worker of all queues with one process."""
        words = ("worker", "-Q", "default,io,gpu", "-c", "1", "-n", "all@%h", "--without-gossip", "--without-mingle")
        self.start(
            "worker", "-m", "celery", "-A", "webnav_site", *words, "--loglevel", "info", "--pidfile", "worker.pid"
        )

    def stop_work(self) -> None:
        """Stop the worker as a deploy does, and wait until it has put its work back."""
        pid_file = self.clone / "worker.pid"
        pid = pid_file.read_text().strip()  # a number in the machine's own namespace
        sh(*self._inside(["kill", "-TERM", pid]))
        wait(lambda: not pid_file.exists(), 60, f"end of the worker:\n{self.tail()}")

    def tail(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-2500:]}" for path in sorted(self.logs.iterdir()))

    def power_off(self) -> None:
        """The first process ends, and with it every other one of the machine."""
        for process in reversed(self.started):
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=10)


def wait(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {seconds:.0f} s"
        time.sleep(0.2)
