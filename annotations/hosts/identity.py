"""Who this process is among all processes of all hosts, and whether one of them is known to have ended.

A host's name and a process's number are no identity: containers share the first, and the second is given again and is
another's in each of them. So a process is named by its host (an id of its own in var/), the boot and the namespace in
which its number counts, the number, and the moment at which it started.
"""

import os
import secrets
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil
from django.conf import settings

DEAD = "ZX"  # state of a process that only waits to be collected; in a container without an init nobody does
_START, _STATE = 19, 0  # places in /proc/PID/stat, counted behind the name


@dataclass(frozen=True)
class Owner:
    """A process of one host. `str` of it is stored with a lease, the part for people first."""

    hostname: str
    pid: int
    host: str
    boot: str
    namespace: str
    start: str

    def __str__(self) -> str:
        return f"{self.hostname}:{self.pid} {self.host}.{self.boot}.{self.namespace}.{self.start}"

    @property
    def is_gone(self) -> bool:
        """True when it surely has ended; only processes that this one can see are judged."""
        if not self.is_seen:
            return False
        facts = _stat(self.pid)
        if facts is None:
            return not exists(self.pid)
        return facts[_START] != self.start or facts[_STATE] in DEAD

    @property
    def place(self) -> tuple[str, str, str]:
        """Where its number counts."""
        return self.host, self.boot, self.namespace

    @property
    def is_seen(self) -> bool:
        """Whether this process can see it, while it lives."""
        return self.place == (host_id(), boot_id(), _namespace())

    def is_of(self, worker: "Owner") -> bool:
        """Whether it is this worker, or a process that the worker has forked. Of processes that this one cannot see,
        those of its container are taken to be."""
        if self.place != worker.place or self == worker or not self.is_seen:
            return self.place == worker.place
        try:
            return not self.is_gone and psutil.Process(self.pid).ppid() == worker.pid
        except psutil.NoSuchProcess:
            return False


def this_process() -> Owner:
    facts = _stat(os.getpid())
    start = facts[_START] if facts else ""
    return Owner(socket.gethostname()[:60], os.getpid(), host_id(), boot_id(), _namespace(), start)


def owner_of(text: str) -> Owner | None:
    """The inverse of `str`; None for what another version has written."""
    name, _, rest = text.partition(" ")
    hostname, _, pid = name.rpartition(":")
    parts = rest.split(".")
    return Owner(hostname, int(pid), *parts) if pid.isdigit() and len(parts) == 4 else None


def shown(text: str) -> str:
    """The part of an owner's name that is for people."""
    return text.partition(" ")[0]


def host_id() -> str:
    """The id of this host: made once, kept in a file of var/. Remove the file where var/ was copied to another host."""
    return _id_in(Path(settings.VAR_DIR))


@cache
def _id_in(folder: Path) -> str:
    path = folder / "host-id"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        own = path.with_name(f".host-id.{os.getpid()}.{secrets.token_hex(4)}")
        own.write_text(secrets.token_hex(6))
        try:
            os.link(own, path)  # whole and never replaced: processes that start together agree
        except FileExistsError:
            pass
        own.unlink()
    return path.read_text().strip()


@cache
def boot_id() -> str:
    """The id that the kernel draws at every start of the machine; "" without Linux."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:13]
    except OSError:  # no Linux: then only the host's id and the number tell
        return ""


@cache
def _namespace() -> str:
    """The namespace in which process numbers count; a container has its own. "" where the system has none."""
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _stat(pid: int) -> list[str] | None:
    """The kernel's facts about a process (`/proc/PID/stat`, behind its name); None when there are none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError):
        return None


def exists(pid: int) -> bool:
    """Whether there is a process of this number that could be sent a signal."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
