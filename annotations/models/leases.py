"""Leases with fencing tokens: who works on a row, noticed when they die, harmless when they come back."""

import logging
import os
import socket
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, Q
from django.utils import timezone

from annotations.observe import errors

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=90)
HEARTBEAT_SECONDS = 15
MAX_ATTEMPTS = 3


class LeaseLost(Exception):
    """Another worker holds the row, or it was cancelled: stop, write nothing."""


def owner_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_gone(owner: str) -> bool:
    """True when the owner is a process of this machine that no longer exists or only waits to be collected."""
    host, _, pid = owner.rpartition(":")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state in "ZX"  # dead; in a container without an init process nobody collects it


class LeaseQuerySet(models.QuerySet):
    def claimable(self) -> "LeaseQuerySet":
        free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
        return self.filter(free, state__in=[Leased.State.QUEUED, Leased.State.RUNNING], attempt__lt=MAX_ATTEMPTS)

    def claim(self, pk: int) -> "Leased | None":
        """The row under a new lease, or None when somebody else holds it or it needs no work.

        One conditional UPDATE, so that any number of callers get it at most once.
        """
        token = uuid.uuid4()
        now = timezone.now()
        claimed = self.claimable().filter(pk=pk).update(
            state=Leased.State.RUNNING, lease_owner=owner_name(), lease_token=token, lease_until=now + LEASE,
            attempt=F("attempt") + 1, heartbeat_at=now,
        )  # fmt: skip
        return self.get(pk=pk) if claimed else None

    def reap(self) -> list[int]:
        """Free the leases of dead workers; park rows that used up their attempts. Ids that may run again."""
        now = timezone.now()
        running = self.filter(state=Leased.State.RUNNING)
        owners = set(running.values_list("lease_owner", flat=True))
        # By owner, not by row: a row that somebody has claimed meanwhile stays theirs.
        lost = Q(lease_until__lt=now) | Q(lease_owner__in=[owner for owner in owners if owner and _is_gone(owner)])
        error_id = errors.new_id()
        parked = running.filter(lost, attempt__gte=MAX_ATTEMPTS).update(
            state=Leased.State.FAILED, lease_token=None, lease_until=None, finished_at=now,
            error_id=error_id,
            last_error=f"Its worker died {MAX_ATTEMPTS} times without an error message (killed, or out of memory).",
        )  # fmt: skip
        if parked:
            errors.remember(
                "job", f"{parked} of {self.model._meta.model_name} died with their workers", error_id=error_id
            )
        running.filter(lost).update(state=Leased.State.QUEUED, lease_token=None, lease_until=None, lease_owner="")
        return list(self.filter(state=Leased.State.QUEUED).values_list("pk", flat=True))


class Leased(models.Model):
    """A unit of background work. The database is the truth: messages only wake workers up."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        DONE_WITH_ERRORS = "done_with_errors", "done, with errors"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_token = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    last_error = models.TextField(blank=True)
    error_id = models.CharField(max_length=12, blank=True, help_text="Finds the traceback in the log.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)

    def beat(self) -> bool:
        """Extend the lease; False when it is lost."""
        now = timezone.now()
        held = type(self).objects.filter(pk=self.pk, lease_token=self.lease_token, state=self.State.RUNNING)
        return bool(held.update(lease_until=now + LEASE, heartbeat_at=now))

    def _beat_or_miss(self) -> bool:
        """As `beat`, but one that the database could not take is only missed: the lease outlasts several."""
        try:
            return self.beat()
        except DatabaseError as error:
            logger.warning("a heartbeat of %s was missed: %s", self, error)
            connection.close()
            return True

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A transaction in which this lease is known to be held; raises LeaseLost otherwise.

        The row is locked, so a worker that lost its lease while paused cannot write after the new owner.
        """
        with transaction.atomic():
            held = type(self).objects.select_for_update().filter(
                pk=self.pk, lease_token=self.lease_token, state=self.State.RUNNING
            )  # fmt: skip
            if not held.exists():
                raise LeaseLost(f"{self} is no longer ours")
            yield

    def finish(self, state: str, **fields) -> bool:
        """End the work under our lease; False when somebody else ended it first."""
        fields["error_id"] = self._failed_id() if state == self.State.FAILED else ""
        fields |= {"state": state, "finished_at": timezone.now(), "lease_token": None, "lease_until": None}  # nosec B105
        return bool(type(self).objects.filter(pk=self.pk, lease_token=self.lease_token).update(**fields))

    def release(self, message: str) -> None:
        """Give the row back after an unexpected error; the cap on attempts parks it in the end."""
        if self.attempt >= MAX_ATTEMPTS:
            self.finish(self.State.FAILED, last_error=message)
        else:
            type(self).objects.filter(pk=self.pk, lease_token=self.lease_token).update(
                state=self.State.QUEUED, lease_token=None, lease_until=None, last_error=message,
                error_id=self._failed_id(),
            )  # fmt: skip

    def _failed_id(self) -> str:
        """An error id for what is being handled, which a task that raises it on keeps."""
        error = sys.exc_info()[1]
        error_id = errors.remember("job", f"{self._meta.model_name} {self.pk} failed", error)
        if error is not None:
            error.webnav_error_id = error_id
        return error_id

    def hand_back(self) -> bool:
        """End a slice: another worker may go on at once, and no attempt is used up. True when it was still ours."""
        held = type(self).objects.filter(pk=self.pk, lease_token=self.lease_token)
        return bool(held.update(state=self.State.QUEUED, lease_token=None, lease_until=None, attempt=0))

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Beat from a thread while the block runs, so that long model calls do not look like death."""
        stop = threading.Event()

        def run() -> None:
            try:
                while not stop.wait(HEARTBEAT_SECONDS) and self._beat_or_miss():
                    pass
            finally:
                connection.close()

        thread = threading.Thread(target=run, name=f"heartbeat-{self.pk}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(timeout=5)
