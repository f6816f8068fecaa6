"""Rows that wait for a worker, and what they are told meanwhile."""

from datetime import datetime

from django.utils import timezone

from annotations.models.jobs.messaged import Messaged
from annotations.models.jobs.workers import Worker
from annotations.monitor.starting import is_starting
from annotations.shown_progress import span_text

NOBODY = "no worker runs: “make run” starts one"
MAKES_WAY, STAYS = ", which makes way after what is at hand", ", which does not make way"


class Awaiting(Messaged):
    created_at: datetime

    class Meta:
        abstract = True

    def turn_text(self, silent_for: float = 0.0, *, turn_is_told: bool = False) -> str:
        """How long a waiting row waits, and for what once that is longer than some seconds."""
        waited = (timezone.now() - self.waits_since).total_seconds()
        return f"waiting for {span_text(waited)}{self._why(turn_is_told) if waited >= silent_for else ''}"

    @property
    def waits_since(self) -> datetime:
        """Since when it waits for a worker."""
        return self.created_at

    def _why(self, turn_is_told: bool) -> str:
        return "" if turn_is_told and self.busy_text() else f": {self.awaited_text()}"

    def awaited_text(self) -> str:
        """What a waiting row waits for: what workers do, that one is free or starts, or that none runs."""
        if busy := self.busy_text():
            return busy
        if Worker.objects.takes(self.queue):
            return "a worker is about to go on with what waits"
        return "workers are starting" if is_starting(self.queue) else NOBODY

    def busy_text(self) -> str:
        """What all workers of its queue are busy with; "" where one is free, or none runs."""
        raise NotImplementedError
