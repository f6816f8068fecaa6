"""Ends a batch in its middle for a person who waits for its worker: an embedded model takes minutes for one."""

from collections import Counter
from collections.abc import Callable

from django.db import Error, connection

MOST = 3  # batches of one piece of work that are ended in a row; the next one is done whole, whoever waits
LOOKS = 2  # in a row at which somebody waits: an idle worker would have taken their work between two

_in_vain: Counter[int] = Counter()
"""By piece of work, how many of its batches were ended here since its last whole one."""


class WayInside:
    """Whether the batch at hand of a piece of work makes way. Nothing does before it `may`: answers under way are lost,
    so that only those before them are worth keeping."""

    def __init__(self, work: int, somebody_waits: Callable[[], bool]) -> None:
        self.may = self.is_made = False
        self._work, self._somebody_waits = work, somebody_waits
        self._seen = 0

    def look(self) -> None:
        """Ask whether somebody waits, from the thread that keeps the lease, beside the batch."""
        if not self.may or self.is_made or _in_vain[self._work] >= MOST:
            return
        try:
            self._seen = self._seen + 1 if self._somebody_waits() else 0
        except Error:  # the database is away: it is asked again in a second
            connection.close()
        self.is_made = self._seen >= LOOKS

    def note_batch(self) -> None:
        """A batch was done whole."""
        _in_vain.pop(self._work, None)

    def note_end(self) -> None:
        """A batch was ended in its middle."""
        _in_vain[self._work] += 1
