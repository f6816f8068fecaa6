"""One supervisor for each data folder: an exclusive lock on it, held for as long as the supervisor lives.

The kernel frees the lock when its holder dies, so it is never stale. Its file tells who holds it.
"""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

from webnav_site.embedded import services


class Holder(NamedTuple):
    """Who holds the lock: the supervisor's process, and the address of the app that it runs."""

    pid: int
    origin: str


def path() -> Path:
    return services.VAR / "up.lock"


def take(patience: float = 0.5) -> int | None:
    """Take the lock; its file descriptor, or None while another process holds it. `patience`: seconds to wait, as a
    process that only asks (`holder`) holds it for a moment too."""
    services.VAR.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.02)
        else:
            return descriptor


def tell(descriptor: int, holder: Holder) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder._asdict()).encode(), 0)


def tell_end(descriptor: int) -> None:
    """Empty the lock file, which says that its holder ends on request. The next holder writes its own name into it."""
    os.ftruncate(descriptor, 0)


def was_stopped() -> bool:
    """Whether the last holder of a free lock ended on request; one that was killed leaves its name."""
    try:
        return path().stat().st_size == 0
    except FileNotFoundError:
        return True  # the data folder is gone


def holder() -> Holder | None:
    """Who holds the lock; None when nobody does. A holder that has not told its name yet has the pid 0."""
    descriptor = take(patience=0)
    if descriptor is not None:
        os.close(descriptor)
        return None
    try:
        return Holder(**json.loads(path().read_text()))
    except (OSError, ValueError, TypeError):
        return Holder(0, "")
