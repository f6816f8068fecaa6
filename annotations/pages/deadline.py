"""A time limit for what a worker does with one page in its own process. Core.

A stored page was parsed by a killable process when it was imported, so parsing it again ends. What follows (pruning,
texts of thousands of candidates) is Python, which a signal interrupts: the page's step fails by itself, and the worker
goes on. Signals reach the main thread only; elsewhere there is no limit.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotations.pages.sandbox import PageTooHeavy

SECONDS = float(os.environ.get("PAGE_STEP_SECONDS", "60"))  # for one page, far above what the largest real ones take


@contextmanager
def page_deadline(seconds: float = 0.0) -> Iterator[None]:
    """Raise PageTooHeavy in what takes longer; inside of another deadline, only that one counts."""
    seconds = seconds or SECONDS
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def overrun(*_: Any) -> None:
        raise PageTooHeavy(f"the page was given up: it took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, overrun)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
