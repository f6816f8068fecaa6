"""How long a worker waits for people with nothing else to do, before it takes other work and comes back."""

import time
from collections.abc import Callable

from annotations.jobs import stopping

WAITING_SECONDS = 15.0  # then it gives back the shard
DRIVEN_SECONDS = 60.0  # the same while a person is driving
THINKING_SECONDS = 10.0  # both where other work waits: who has done nothing for so long thinks
DRIVEN_THINKING_SECONDS = 30.0  # as people look at the page between two clicks, and the next one must not wait
LOOK_SECONDS = 1.0  # between two looks at whether other work waits
HELD_POLL = 0.1  # seconds between two looks at what people say, where nothing else is to do


class Patience:
    """Waits for people to decide or act, as long as no other work is kept waiting by that: `others_wait` tells."""

    def __init__(self, others_wait: Callable[[], bool]) -> None:
        self.others_wait = others_wait
        self.idle_since: float | None = None
        self.looked_at = 0.0

    def has_work(self) -> None:
        self.idle_since = None

    def wait(self, anybody_drives: bool) -> None:
        """Wait a moment. After some time end the slice, sooner where other work waits for this worker: the browsers
        keep their pages."""
        now = time.monotonic()
        self.idle_since = self.idle_since or now
        idle = now - self.idle_since
        if idle > (DRIVEN_SECONDS if anybody_drives else WAITING_SECONDS):
            raise stopping.SliceOver
        thinking = DRIVEN_THINKING_SECONDS if anybody_drives else THINKING_SECONDS
        if idle > thinking and now - self.looked_at > LOOK_SECONDS:
            self.looked_at = now
            if self.others_wait():
                raise stopping.SliceOver
        time.sleep(HELD_POLL)
