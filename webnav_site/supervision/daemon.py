"""The supervisor: supervisord under the lock on the data folder, in a session of its own.

`up` starts it; if it is killed, its guard (or `up`) starts the next one, which ends what the first has left behind.
"""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from supervisor import events, supervisord

from webnav_site.embedded import services
from webnav_site.supervision import lock, processes, programs

LOCK = 3  # supervisord closes inherited files from 5 on when it is told to reload, and none of them before
ORIGIN = "WEBNAV_ORIGIN"  # in its environment: where people find the app
ROOM = 2_000_000  # bytes that a start writes at most: configuration, lock, first lines of logs
LOOK_SECONDS = 1
LONGEST_WAIT = 5  # seconds until a process is started again
LEFT_SECONDS = 3  # for what is left of a killed supervisor to end by itself


def start(descriptor: int | None = None) -> subprocess.Popen:
    """Start the supervisor in the background. It takes over the lock whose descriptor is given; without one it takes
    the lock itself."""
    programs.log_folder().mkdir(parents=True, exist_ok=True, mode=0o750)
    command = [
        sys.executable,
        "-m",
        "webnav_site.supervision.daemon",
        *([] if descriptor is None else [str(descriptor)]),
    ]
    with (programs.log_folder() / "supervisor.out").open("a") as output:
        return subprocess.Popen(
            command,
            cwd=services.ROOT,
            env=os.environ | {processes.MARK: str(services.VAR)},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[] if descriptor is None else [descriptor],
        )


class ForgivingStream:
    """A stream on a disk that may be full: what cannot be written is lost. supervisord reports to its standard error
    that it could not write to a log, and would end when that fails too."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def wait_for_room(folder: Path) -> None:
    """Wait until the disk has room for what a start writes. The lock is held meanwhile, so that nobody takes the
    supervisor for gone."""
    told = False
    while shutil.disk_usage(folder).free < ROOM:
        if not told:
            sys.stderr.write(f"the disk of {folder} is full: the app starts when there is room\n")
        told = True
        time.sleep(LOOK_SECONDS)


def start_soon(event: events.ProcessStateEvent) -> None:
    """Start a process again that ended as soon as it started, after LONGEST_WAIT seconds at most. supervisord would
    wait a second longer each time, which would be minutes after an hour of a full disk."""
    process = event.process
    if process.backoff > LONGEST_WAIT:
        process.backoff = LONGEST_WAIT
        process.delay = time.time() + LONGEST_WAIT


class PromptSupervisor(supervisord.Supervisor):
    """Starts its processes at once, whereas supervisord first listens for a second, in which nobody asks it
    anything."""

    def runforever(self) -> None:
        events.subscribe(events.ProcessStateBackoffEvent, start_soon)
        for group in sorted(self.process_groups.values()):
            group.transition()
        super().runforever()


def main(arguments: list[str]) -> None:
    sys.stdout, sys.stderr = ForgivingStream(sys.stdout), ForgivingStream(sys.stderr)
    descriptor = int(arguments[0]) if arguments else lock.take()
    if descriptor is None:
        return  # somebody was quicker: one is enough
    if descriptor != LOCK:
        os.dup2(descriptor, LOCK, inheritable=False)
        os.close(descriptor)
    wait_for_room(services.VAR)
    lock.tell(LOCK, lock.Holder(os.getpid(), os.environ.get(ORIGIN, "")))
    processes.end(processes.marked(), LEFT_SECONDS)
    supervisord.Supervisor = PromptSupervisor
    supervisord.main(["-c", str(programs.write_configuration())])
    lock.tell_end(LOCK)  # it returns only when it was told to stop, by whomever: nobody starts the next one


if __name__ == "__main__":
    main(sys.argv[1:])
