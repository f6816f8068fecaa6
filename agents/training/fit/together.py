"""One training on several devices: several processes, of which this is the first, run the same loop. Core.

Each has a device of its own; without a GPU they share the processor. The others write nothing: they read the same
examples and the same checkpoint, and end with this one, however it ends.
"""

import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from agents.training.fit.loop import TrainingError

READY = b"ready\n"
END_SECONDS = 30  # for the others to end by themselves, when they are through the loop or have failed
# Below those that the system lends to clients, one of whom could take it in the seconds until all have started.
PORTS = range(20_000, 32_000)
SAID_LINES = 1  # of what another process wrote last: its error


def processes(devices: int) -> int:
    """How many processes a training that asks for so many devices gets on this machine."""
    import torch

    return max(1, min(devices, torch.cuda.device_count() or os.cpu_count() or 1))


@contextmanager
def together(count: int, command: list[str]) -> Iterator[None]:
    """Start the other processes (`command`, which calls `joined`); within the block this process is the first of
    `count`. Raises TrainingError where another one failed first."""
    if count == 1:
        yield
        return
    with ExitStack() as stack:
        said: list[BinaryIO] = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(1, count)]
        port = _free_port()
        others = [
            subprocess.Popen(
                command,
                env=os.environ | _place(rank, count, port),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
            for rank, log in enumerate(said, 1)
        ]
        stack.callback(_end, others)
        if not all(
            READY in (process.stdout or ()) for process in others
        ):  # reads until READY comes, or the process ends
            raise _first_failure(others, said) or TrainingError("a process of the training did not start")
        with _as_rank(0, count, port):
            try:
                yield
            except RuntimeError as error:  # of a collective operation; it does not tell which process died
                raise _first_failure(others, said) or error from error
            _wait(others)


@contextmanager
def joined() -> Iterator[None]:
    """Be one of the other processes, as the environment says; to be entered when all that is needed is loaded, as from
    then on they wait for each other. The process ends at once when the first one is gone."""
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    os.dup2(2, 1)  # nobody reads further output
    threading.Thread(target=_end_with_the_first, name="first-process", daemon=True).start()
    with _forgetting():
        yield


def _end_with_the_first() -> None:
    while os.read(0, 1):  # nothing is ever written: it ends when the first process does
        pass
    os._exit(1)


@contextmanager
def _as_rank(rank: int, count: int, port: int) -> Iterator[None]:
    own = _place(rank, count, port)
    before = {name: os.environ.get(name) for name in own}
    os.environ |= own
    try:
        with _forgetting():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _forgetting() -> Iterator[None]:
    """Destroy the group of processes at the end of the block, so that the next training in this process can have
    another."""
    try:
        yield
    finally:
        import torch
        from accelerate.state import AcceleratorState

        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        AcceleratorState._reset_state(reset_partial_state=True)


def _place(rank: int, count: int, port: int) -> dict[str, str]:
    """The environment of one of the processes, as torch reads it; they share this machine's processors equally."""
    values = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": max(1, (os.cpu_count() or 1) // count),
    }
    return {name: str(value) for name, value in values.items()}


def _free_port() -> int:
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise TrainingError("no free port for the processes of a training to meet at")


def _first_failure(others: list[subprocess.Popen[bytes]], said: list[BinaryIO]) -> TrainingError | None:
    for rank, (process, log) in enumerate(zip(others, said, strict=True), 1):
        try:
            code = process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        if code:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()[-SAID_LINES:]
            return TrainingError(f"process {rank + 1} of the training ended ({code}): {' '.join(lines)}")
    return None


def _wait(others: list[subprocess.Popen[bytes]]) -> None:
    for process in others:
        process.wait(timeout=END_SECONDS)


def _end(others: list[subprocess.Popen[bytes]]) -> None:
    for process in others:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if process.poll() is None:
            process.kill()
        process.wait()
