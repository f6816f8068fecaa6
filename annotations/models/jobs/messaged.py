"""Rows of work of which workers are told by messages: when one may be lost, so that another is sent."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

from django.db import models
from django.utils import timezone

from annotations.models.jobs.loading import Loading, LoadingQuerySet

TELL_AGAIN = timedelta(minutes=2)  # one that waits longer gets another message, where none is left in its queue
TELL_ANYWAY = timedelta(minutes=30)  # and then in any case: its message may lie in the queue of a host that is gone

T = TypeVar("T", bound="Messaged")


class MessagedQuerySet(LoadingQuerySet[T]):
    def unheard(self, left_in: Callable[[str], int]) -> list[T]:
        """Rows whose message may be lost: of a worker that died, or told a while ago though no message is left in their
        queue (`left_in`). Only these are told again: messages that pile up behind long work would come before those of
        new work, and each of a shard takes up any shard."""
        now, left = timezone.now(), cache(left_in)
        found: list[T] = []
        for row in self:
            ago = now - row.published_at if row.published_at else None
            if ago is None or ago > TELL_ANYWAY or (ago > TELL_AGAIN and not left(row.queue)):
                found.append(row)
        return found

    def note_message(self) -> None:
        """Note that a message about these rows was sent just now."""
        self.update(published_at=timezone.now())


class Messaged(Loading):
    published_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last told about it.")

    class Meta:
        abstract = True

    @property
    def queue(self) -> str:
        """The queue in which the row waits for a worker."""
        raise NotImplementedError

    @classmethod
    def anew(cls) -> dict[str, Any]:
        # The message that led to a claim is used up: whoever frees the row sends another, or else the reaper does.
        return super().anew() | {"published_at": None}
