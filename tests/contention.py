"""How busy the machine is: budgets in seconds are those of a machine that does nothing else."""

import time


def contention(seconds: float = 0.3) -> float:
    """How many times longer than on an idle machine work takes now: wall time by CPU time, at least 1."""
    wall, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        pass
    return max(1.0, (time.perf_counter() - wall) / seconds)
