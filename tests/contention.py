"""How busy the machine is: budgets in seconds are those of a machine that does nothing else."""

import os
import subprocess
import sys
import time


def contention(seconds: float = 0.3) -> float:
    """How many times longer than on an idle machine work takes now: wall time by CPU time, at least 1."""
    wall, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        pass
    return max(1.0, (time.perf_counter() - wall) / seconds)


def contention_of_all_cores() -> float:
    """The same for work that keeps every core busy: the mean of as many processes at once."""
    code = "from tests.contention import contention; print(contention(0.5))"
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(os.cpu_count() or 1)]
    return sum(float(process.communicate()[0]) for process in running) / len(running)
