"""How busy and how slow the machine is: budgets in seconds are those of one of the usual pace that does nothing else.
Machines of one kind differ by half and more from hour to hour."""

import os
import subprocess
import sys
import time

USUAL = 0.0092  # seconds of a processor for `fixed_work` on a quiet machine of 2.4 GHz


def fixed_work() -> float:
    """Seconds of a processor that some Python takes, which is always the same."""
    began = time.process_time()
    counts: dict[int, int] = {}
    for number in range(60_000):
        counts[number % 1000] = counts.get(number % 1000, 0) + number
    return time.process_time() - began


def contention(seconds: float = 0.3) -> float:
    """How many times longer than on an idle machine of the usual pace work takes now: at least 1. `seconds` of a
    processor are used to find out."""
    wall, cpu, count = time.perf_counter(), time.process_time(), 0
    while time.process_time() - cpu < seconds:
        fixed_work()
        count += 1
    return max(1.0, (time.perf_counter() - wall) / (count * USUAL))


def contention_of_all_cores() -> float:
    """The same for work that keeps every core busy: the mean of as many processes at once."""
    code = "from tests.contention import contention; print(contention(0.5))"
    command = [sys.executable, "-c", code]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(os.cpu_count() or 1)]
    return sum(float(process.communicate()[0]) for process in running) / len(running)
