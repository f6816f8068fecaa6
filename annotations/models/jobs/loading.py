"""Rows of work that begins by loading models: a worker that dies while it loads them has tried nothing of the work."""

from datetime import timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from annotations.models.lease import Lease, LeaseQuerySet
from annotations.shown_progress import span_text

LOADING_WAITS = (0, 0, 0, 15, 30, 60, 120, 240, 480)
"""Seconds until work is tried again, by how often its workers died while they loaded its models: who restarts a worker
a few times loses nothing, and what never fits is given up after a quarter of an hour."""
LOADING_DEATHS = len(LOADING_WAITS) + 1

M = TypeVar("M", bound="Loading")


class LoadingQuerySet(LeaseQuerySet[M]):
    def due(self) -> Self:
        """Rows that may be worked on now: they do not wait after workers that died while loading."""
        return self.filter(Q(not_before=None) | Q(not_before__lte=Now()))

    def loading(self) -> Self:
        """Rows whose workers have not loaded their models yet."""
        return self.filter(is_loaded=False)

    def hopeless(self) -> Self:
        """Rows that are given up if one more worker dies while loading."""
        return self.filter(loading_deaths__gte=LOADING_DEATHS - 1)


class Loading(Lease):
    is_loaded = models.BooleanField(default=False, help_text="Its worker has the models that it decides with.")
    loading_deaths = models.PositiveSmallIntegerField(
        default=0, help_text="How many workers in a row died before they had its models."
    )
    not_before = models.DateTimeField(null=True, blank=True, help_text="When it is tried again after such deaths.")

    TRY_AGAIN: ClassVar[str]  # what a person does with one that was parked, before "once"

    class Meta:
        abstract = True

    @classmethod
    def anew(cls) -> dict[str, Any]:
        return super().anew() | {"is_loaded": False, "not_before": None}

    def after_loading_death(self) -> dict[str, Any]:
        """The columns to write when a worker died while loading models: one more death, and when to try again."""
        wait = LOADING_WAITS[self.loading_deaths]
        due = Now() + timedelta(seconds=wait) if wait else None
        return {"loading_deaths": F("loading_deaths") + 1, "not_before": due}

    def later_text(self) -> str:
        """When the row is tried again, and why so late; "" where it may be tried now."""
        if self.not_before is None or self.not_before <= timezone.now():
            return ""
        left = span_text((self.not_before - timezone.now()).total_seconds())
        return f"tried again in {left}: {self.loading_deaths} workers died while models were loading"

    def never_loaded_because(self) -> str:
        """The reason why a row is given up whose models were never loaded; its last words are stored already."""
        died = f"{LOADING_DEATHS} workers died one after the other while they loaded its models"
        return f"{died}; nothing was tried since{self.killed_text()} {self.TRY_AGAIN} once a worker stays up."

    def killed_text(self) -> str:
        """The end of a sentence about a worker that was killed, as `Leased` says it."""
        raise NotImplementedError
