"""A worker whose main process cannot go on ends within seconds, whatever its processes are doing.

Celery then waits for every process of its pool. One that gives back a result meanwhile may wait for the main process to
read it, which reads no more: both would wait for ever, and nobody would start the worker anew.
"""

import logging
import os
import threading
import time
from contextlib import suppress
from typing import Protocol

import psutil
from celery import bootsteps

from annotations.jobs import stopping

ENDS_SECONDS = 10  # for the processes to end their slices; killed after that, they lose nothing
logger = logging.getLogger(__name__)


class StoppedWorker(Protocol):
    """What is known here of Celery's worker. `exitcode`: 0, or None, where somebody told it to stop."""

    exitcode: int


class EndsInTime(bootsteps.StartStopStep):
    """Sees to the end of a worker that stops because of an error. One that is told to stop has as long as whoever told
    it waits."""

    requires = ("celery.worker.components:Pool",)

    def close(self, worker: StoppedWorker) -> None:
        if worker.exitcode:
            stopping.ask()
            threading.Thread(target=_end, args=(worker,), name="ending", daemon=True).start()


def _end(worker: StoppedWorker) -> None:
    time.sleep(ENDS_SECONDS)
    logger.critical("the worker's processes do not end after an error: they are killed")
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    os._exit(worker.exitcode)
