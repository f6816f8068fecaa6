"""Leases of workers, with fencing tokens: a worker that dies is noticed, and one that comes back late does no harm.

`Leased` is what workers add to a lease: owners, attempts, heartbeats of a thread, last words.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Self, TypeVar, cast

from django.db import Error, connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from annotations.hosts.identity import host_id, owner_of, shown, this_process
from annotations.models.jobs.awaiting import Awaiting
from annotations.models.jobs.messaged import MessagedQuerySet
from annotations.models.jobs.workers import Worker
from annotations.monitor import errors, last_words
from annotations.monitor.outages import patiently
from annotations.shown_progress import ago_text

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 15
LOOK_SECONDS = 1.0  # between two looks at whether a lease is still held
MAX_ATTEMPTS = 3
WAITING_SECONDS = 20  # a queued row that nobody took for so long: probably no worker is running


class LeaseLost(Exception):
    """Another worker holds the row, or it was cancelled: whoever gets this must stop and write nothing."""


def owner_name() -> str:
    return str(this_process())


def _is_gone(owner: str) -> bool:
    found = owner_of(owner)
    return found is not None and found.is_gone


def is_at_work(owner: str) -> bool:
    """Whether a process, as leases name it, may still go on with what it has begun: it is not known to have ended, and
    of another host workers are heard."""
    found = owner_of(owner)
    if found is None or found.is_gone:
        return False
    return found.host == host_id() or Worker.objects.alive().filter(host=found.host).exists()


L = TypeVar("L", bound="Leased")


class LeasedQuerySet(MessagedQuerySet[L]):
    def claimable(self) -> Self:
        return self.due().filter(state=Leased.State.QUEUED, attempt__lt=MAX_ATTEMPTS)

    def claim(self, pk: int) -> L | None:
        """The row under a new lease, or None when somebody else holds it or it needs no work. A row whose worker died,
        or whose lease ran out, is reaped first: its message comes back before the reaper does.

        One conditional UPDATE, so that any number of callers get it at most once.
        """
        row = self.filter(pk=pk)
        return row._claim(pk) or (row._claim(pk) if row.reap() else None)

    def held(self) -> Self:
        """Rows that a worker is at, as far as its lease says."""
        return self.filter(state=Leased.State.RUNNING, lease_until__gt=Now())

    def leaving(self) -> list[L]:
        return []  # cancelled rows at which a worker still is

    def _claim(self, pk: int) -> L | None:
        taken = self.model.anew() | {"state": Leased.State.RUNNING, "lease_owner": owner_name()}
        taken_now = self.claimable().filter(pk=pk).update(attempt=F("attempt") + 1, **taken)
        return self.get(pk=pk) if taken_now else None

    def _leave_last_words(self, pk: int) -> last_words.LastWords | None:
        """Take the last words that a dead worker of this machine has left, and store them on the row."""
        words = last_words.take(self.model.words_key(pk))
        if words is not None:
            self.filter(pk=pk).update(last_log=words.log, peak_memory=words.peak_memory, gpu_memory=words.gpu_memory)
        return words

    def reap(self) -> list[int]:
        """Free the leases of dead workers; park rows that used up their attempts. Ids that may run again."""
        self._try_loading_again()
        lost = self._lost()
        for pk in lost.values_list("pk", flat=True):
            self._leave_last_words(pk)
        lost.filter(attempt__gte=MAX_ATTEMPTS).park(self.model._parked_because)
        lost.update(state=Leased.State.QUEUED, lease_owner="", published_at=None, **Leased.FREE)
        return list(self.claimable().values_list("pk", flat=True))

    def _try_loading_again(self) -> None:
        """Queue again the rows whose workers died while they loaded models, without using up an attempt; park those on
        which that has happened too often."""
        loading = self._lost().loading()
        loading.hopeless().park(self.model.never_loaded_because)
        for row in loading:
            self._leave_last_words(row.pk)
            again = row.after_loading_death() | Leased.FREE
            loading.filter(pk=row.pk).update(
                state=Leased.State.QUEUED, lease_owner="", attempt=F("attempt") - 1, published_at=None, **again
            )

    def _lost(self) -> Self:
        """Rows whose workers are dead, or silent for too long."""
        running = self.filter(state=Leased.State.RUNNING)
        owners = set(running.values_list("lease_owner", flat=True))
        # By owner, not by row: a row that somebody has claimed meanwhile stays theirs.
        gone = [owner for owner in owners if owner and _is_gone(owner)]
        return running.filter(Q(lease_until__lt=Now()) | Q(lease_owner__in=gone))

    def park(self, because: Callable[[L], str]) -> None:
        """Give these rows up: each fails with the reason that `because` says of it."""
        error_id = errors.new_id()
        parked = 0
        for row in self:
            parked += self.filter(pk=row.pk).update(
                state=Leased.State.FAILED,
                finished_at=Now(),
                error_id=error_id,
                last_error=because(row),
                **Leased.FREE,
            )
        if parked:
            name = self.model._meta.model_name
            errors.remember("job", f"{parked} of {name} died with their workers", error_id=error_id)


class Leased(Awaiting):
    """A unit of background work. The database is the truth: messages only wake workers up."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        DONE_WITH_ERRORS = "done_with_errors", "done, with errors"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    LEASE = timedelta(seconds=90)
    WRITABLE = (State.RUNNING,)

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_token = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    last_error = models.TextField(blank=True)
    error_id = models.CharField(max_length=12, blank=True, help_text="Finds the traceback in the log.")
    last_log = models.TextField(blank=True, help_text="The last lines of the worker that died or failed with it.")
    peak_memory = models.BigIntegerField(null=True, blank=True, help_text="Bytes that its worker held at most.")
    gpu_memory = models.BigIntegerField(null=True, blank=True, help_text="Bytes of a device that it held at most.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    recording: last_words.Recording | None = None  # of this process, while it works on the row

    class Meta:
        abstract = True

    def memory_advice(self) -> str:
        """What makes the work need less memory, as the end of a sentence; "" where nothing can be set."""
        return ""

    def _parked_because(self) -> str:
        """The reason why a row is given up whose workers died again and again; its last words are stored already."""
        died = f"Its worker died {MAX_ATTEMPTS} times without an error message and stored nothing in between"
        return f"{died}{self.killed_text()}"

    def killed_text(self) -> str:
        """The end of a sentence about a worker that was killed: how much memory it held, and what would need less."""
        sizes = ((self.peak_memory, ""), (self.gpu_memory, " of the device"))
        held = [f"{size / 1024**3:.1f} GB{of}" for size, of in sizes if size]
        held_text = f"; it held up to {' and '.join(held)}" if held else ""
        advice = self.memory_advice()
        return f" (killed, or out of memory{held_text}).{f' If memory was short: {advice}' if advice else ''}"

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)

    def worker_text(self, *, turn_is_told: bool = False, worked_at: datetime | None = None) -> str:
        """Who works on the row and when they were last heard; how long it waits, for what unless `turn_is_told`.
        `worked_at`: when what it is a part of was last worked on."""
        if self.state == self.State.RUNNING and self.heartbeat_at:
            return f"{shown(self.lease_owner)}, last heard {ago_text(self.heartbeat_at)}"
        if self.state != self.State.QUEUED:
            return ""
        if later := self.later_text():
            return later
        if worked_at := max(filter(None, (self.heartbeat_at, worked_at)), default=None):
            return f"waits to go on, last worked on {ago_text(worked_at)}{self._why(turn_is_told)}"
        return self.turn_text(WAITING_SECONDS, turn_is_told=turn_is_told)

    def busy_text(self) -> str:
        workers = Worker.objects.taking(self.queue)
        held = (cast("LeasedQuerySet[Leased]", model._default_manager.all()) for model in Leased.__subclasses__())
        rows = (row for kind in held for row in (*kind.held(), *kind.leaving()))
        others = [row for row in rows if row.queue == self.queue and row != self and workers.have(row.lease_owner)]
        return workers.busy_text(self._works_of(others))

    def _works_of(self, others: "list[Leased]") -> list[str]:
        """What workers are at that have these rows, as it is told to who waits for this one."""
        return [row.work for row in others]

    def work_beside(self, project: int, *, is_watched: bool, is_new: bool) -> str:
        """What its worker is at, by name for who waits in the same project; and whether it makes way for them."""
        raise NotImplementedError

    @property
    def work(self) -> str:
        """The kind of work with an article, as "a training"."""
        raise NotImplementedError

    def beat(self) -> bool:
        """Extend the lease; False when it is lost."""
        return bool(self.under_lease().update(**self.longer(), **self._memory()))

    def _memory(self) -> dict[str, int | None]:
        """The columns of memory that this process has used, as far as it is recorded."""
        if self.recording is None:
            return {}
        return {"peak_memory": self.recording.peak_memory or None, "gpu_memory": self.recording.gpu_memory or None}

    @classmethod
    def words_key(cls, pk: int) -> str:
        """The key under which a worker on this row leaves last words. It names the database, as several may share a
        machine."""
        return f"{connection.settings_dict['NAME']}-{cls._meta.model_name}-{pk}"

    def got_on(self) -> None:
        """Forget earlier attempts, as something new was stored: only attempts without progress count."""
        if self.attempt > 1 or self.loading_deaths:
            self.attempt, self.loading_deaths = min(self.attempt, 1), 0
            self.under_lease().update(attempt=self.attempt, loading_deaths=0)

    def _beat_or_miss(self) -> bool:
        """Extend the lease as `beat` does. Where the database cannot be reached, the beat is only missed: a lease
        outlasts several missed ones."""
        try:
            return self.beat()
        except Error as error:
            logger.warning("a heartbeat of %s was missed: %s", self, error)
            connection.close()
            return True

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A transaction in which this lease is known to be held; raises LeaseLost otherwise.

        The row is locked, so a worker that lost its lease while paused cannot write after the new owner.
        """
        with transaction.atomic():
            if not self.under_lease().select_for_update().exists():
                raise LeaseLost(f"{self} is no longer ours")
            yield

    @patiently
    def finish(self, state: str, **fields) -> bool:
        """End the work under our lease; False when somebody else ended it first. A good end forgets what attempts
        before it failed of."""
        fields["error_id"] = self._failed_id() if state == self.State.FAILED else ""
        if state in (self.State.DONE, self.State.DONE_WITH_ERRORS):
            fields = {"last_error": "", "last_log": ""} | fields
        fields |= {"state": state, "finished_at": Now()} | self.FREE
        return bool(self.under_lease().update(**fields))

    @patiently
    def retry_or_fail(self, message: str) -> None:
        """Give the row back after an unexpected error; the cap on attempts parks it in the end."""
        if self.attempt >= MAX_ATTEMPTS:
            self.finish(self.State.FAILED, last_error=message)
        else:
            self.under_lease().update(
                state=self.State.QUEUED,
                last_error=message,
                error_id=self._failed_id(),
                **self.FREE,
            )

    def _failed_id(self) -> str:
        """Log the error that is being handled and return its id. The exception keeps the id, for the task that it
        ends."""
        error = sys.exc_info()[1]
        error_id = errors.remember("job", f"{self._meta.model_name} {self.pk} failed", error)
        if error is not None:
            error.__dict__["webnav_error_id"] = error_id  # tasks look for it
        return error_id

    @patiently
    def hand_back(self) -> bool:
        """End a slice: another worker may go on at once, and no attempt is used up. True when it was still ours."""
        return bool(self.under_lease().update(state=self.State.QUEUED, attempt=0, **self.FREE))

    @contextmanager
    def heartbeat(self, look: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
        """Beat from a thread while the block runs, so that long model calls do not look like death. The block gets a
        function that says whether the lease was lost meanwhile; `look` is called once a second while it is held."""
        stop, lost = threading.Event(), threading.Event()
        thread = threading.Thread(
            target=_beat_while_held, args=(self, stop, lost, look), name=f"heartbeat-{self.pk}", daemon=True
        )
        with last_words.recording(self.words_key(self.pk)) as self.recording:
            thread.start()
            try:
                yield lost.is_set
            except Exception:
                logger.exception("%s failed", self)
                self._keep_log(self.recording)
                raise
            finally:
                stop.set()
                thread.join(timeout=5)

    def _keep_log(self, recording: last_words.Recording | None) -> None:
        """Store the last lines of the log and the memory used on the row, after an unexpected error as after a killed
        worker."""
        if recording is None:
            return
        recording.look()
        try:
            row = type(self)._default_manager.filter(pk=self.pk)
            row.update(last_log=last_words.tail(recording.path), **self._memory())
        except Error as error:
            logger.warning("the last lines of %s could not be stored: %s", self, error)


def _beat_while_held(row: Leased, stop: threading.Event, lost: threading.Event, look: Callable[[], None]) -> None:
    """Extend the lease until `stop`, and look often whether it is `lost`: who cancels a row must not wait for the end
    of a batch."""
    seen, beaten = False, time.monotonic()
    try:
        while not stop.wait(min(LOOK_SECONDS, HEARTBEAT_SECONDS)):
            held = _is_held(row, seen)
            seen = seen or held is not None
            if held is False:
                return lost.set()
            if held:
                look()
            if time.monotonic() - beaten >= HEARTBEAT_SECONDS:
                row._beat_or_miss()
                beaten = time.monotonic()
    finally:
        connection.close()


def _is_held(row: Leased, seen: bool) -> bool | None:
    """Whether its lease is held; None: the database is away, or the row's transaction is open (it was never `seen`)."""
    try:
        stored = type(row)._default_manager.filter(pk=row.pk).values_list("lease_token", "state").first()
    except Error:
        connection.close()
        return None
    if stored is None:
        return False if seen else None
    return bool(stored[0] == row.lease_token and stored[1] in row.WRITABLE)
