"""Work on several things at once, in threads that stop when the caller is interrupted. Core."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_lanes(work: Callable[[T, threading.Event], R], things: Sequence[T], lanes: int) -> list[R]:
    """`work(thing, stop)` for each thing, at most `lanes` at once; results in order.

    When the caller is interrupted (Ctrl-C, a task's time limit) or a call raises, `stop` is set and nothing further
    starts; what runs is not waited for, and should look at `stop` before it starts anew.
    """
    stop = threading.Event()
    if lanes == 1 or len(things) == 1:
        return [work(thing, stop) for thing in things]
    pool = ThreadPoolExecutor(min(lanes, max(1, len(things))), thread_name_prefix="llm")
    try:
        # Each in the caller's context: its lines and spans say what they belong to.
        futures = [pool.submit(copy_context().run, work, thing, stop) for thing in things]
        return [future.result() for future in futures]
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
