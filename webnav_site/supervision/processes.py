"""Finds and ends the processes of one data folder, also those that a killed supervisor has left behind."""

import os
from collections.abc import Iterable

import psutil

from webnav_site.embedded import services

MARK = "WEBNAV_RUN"  # in the environment of every process that is supervised: the data folder
PROGRAM = "SUPERVISOR_PROCESS_NAME"  # set by supervisord for what it starts


def marked(program: str = "") -> list[psutil.Process]:
    """Processes of this data folder, or of one program of it; without this process and its parents."""
    own = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    return [process for process in psutil.process_iter() if process.pid not in own and _is_ours(process, program)]


def _is_ours(process: psutil.Process, program: str) -> bool:
    try:
        environment = process.environ()
    except (psutil.Error, OSError):
        return False
    return environment.get(MARK) == str(services.VAR) and (not program or environment.get(PROGRAM) == program)


def end(processes: Iterable[psutil.Process], patience: float) -> int:
    """Ask the processes to stop, and kill after some seconds those that have not; returns how many there were."""
    processes = list(processes)
    for process in processes:
        _signal(process.terminate)
    _, stubborn = psutil.wait_procs(processes, timeout=patience)
    kill(stubborn)
    return len(processes)


def kill(processes: Iterable[psutil.Process]) -> None:
    processes = list(processes)
    for process in processes:
        _signal(process.kill)
    psutil.wait_procs(processes, timeout=5)


def _signal(send) -> None:
    try:
        send()
    except psutil.Error:
        pass  # it is gone already
