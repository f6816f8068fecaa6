"""The kinds of things that this app keeps for a time: results of exports, uploads, idempotency keys, sessions, webhook
deliveries, jobs."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from annotations.jobs import uploads
from annotations.models import AccessEvent, Delivery, IdempotencyKey, Job
from annotations.retention.kinds import BATCH, NAMED_JOBS, Freed, KeptKind, TableRows
from annotations.storage import forget_old_scratch, forget_scratch, store

OVER = (Job.State.DONE, Job.State.DONE_WITH_ERRORS, Job.State.FAILED, Job.State.CANCELLED)


class Exports(KeptKind):
    """Results of exports: the file is deleted, the job stays in the list and says so."""

    name = "exports"
    what = "files of finished exports"
    stays = "the job; the same export can be made again"

    def _jobs(self, before: datetime) -> QuerySet:
        finished = Job.objects.filter(kind=Job.Kind.EXPORT, state__in=OVER, finished_at__lt=before)
        return finished.exclude(file="").order_by("pk")

    def estimate(self, days: int | None = None) -> Freed:
        before = self.before(days)
        sizes = [_size(job.file) for job in self._jobs(before)] if before else []
        return Freed(len(sizes), sum(sizes))

    def forget(self, limit: int = BATCH) -> int:
        before = self.before()
        jobs = list(self._jobs(before)[:limit]) if before else []
        for job in jobs:
            store.delete(job.file)
            forget_scratch(job.file)
            Job.objects.filter(pk=job.pk).lose_files()
        return len(jobs)


class Uploads(KeptKind):
    """Uploads of imports that ended without success, and uploads for which no job was ever stored."""

    name = "uploads"
    what = "uploads of failed or cancelled imports, and uploads without one"
    stays = "uploads of imports that are under way"

    def _jobs(self, before: datetime) -> QuerySet:
        return Job.objects.imports().filter(state__in=OVER, finished_at__lt=before).exclude(file="")

    def _strays(self, before: datetime) -> Iterator[str]:
        """Names of uploads without a job. Young ones are left out, as a job's row is written after its file."""
        imports = Job.objects.imports().exclude(file="")
        wanted = set(imports.values_list("file", flat=True))
        for name, modified in store.names(uploads.UPLOADS):
            if name not in wanted and modified < before:
                yield name

    def estimate(self, days: int | None = None) -> Freed:
        before = self.before(days)
        if before is None:
            return Freed(0, 0)
        names = [*self._jobs(before).values_list("file", flat=True), *self._strays(before)]
        return Freed(len(names), sum(map(_size, names)))

    def forget(self, limit: int = BATCH) -> int:
        before = self.before()
        if before is None:
            return 0
        jobs = list(self._jobs(before)[:limit])
        for job in jobs:
            job.forget_file()
            Job.objects.filter(pk=job.pk).lose_files()
        strays = list(islice(self._strays(before), limit - len(jobs)))
        for name in strays:
            store.delete(name)
        forget_old_scratch(uploads.UPLOADS)
        return len(jobs) + len(strays)


def _size(name: str) -> int:
    """Bytes of a stored file; 0 where it is gone."""
    facts = store.facts(name)
    return facts.size if facts else 0


class IdempotencyKeys(TableRows):
    """Answers kept for repeated requests. Callers are promised 24 hours, so they are kept a day at least."""

    name, heavy = "idempotency_keys", ("response",)
    what = "answers kept for repeated requests"

    def rows(self, before: datetime) -> QuerySet:
        return IdempotencyKey.objects.filter(created_at__lt=before)


class Sessions(TableRows):
    """Sessions of signed-in users. Days count from the end of the session, so no sign-in that still holds is cut
    off."""

    name, heavy = "sessions", ("session_data",)
    what = "sessions that have run out"

    def rows(self, before: datetime) -> QuerySet:
        return Session.objects.filter(expire_date__lt=before)


class Deliveries(TableRows):
    name, heavy = "deliveries", ("payload", "last_error")
    what = "webhook deliveries that have arrived or were given up"
    stays = "deliveries that are still tried"

    def rows(self, before: datetime) -> QuerySet:
        return Delivery.objects.filter(created_at__lt=before).exclude(state=Delivery.State.WAITING)


class Jobs(TableRows):
    """Finished jobs. A job with a file keeps its row: the file goes first, by its own setting."""

    name, heavy = "jobs", ("params", "progress", "report", "last_error")
    what = "finished jobs with their reports"
    stays = "jobs of trained models, and jobs whose file is kept"

    def rows(self, before: datetime) -> QuerySet:
        over = Job.objects.filter(state__in=OVER, finished_at__lt=before, file="")
        for named in NAMED_JOBS:
            over = over.exclude(pk__in=named())
        return over


class AccessEvents(TableRows):
    """Rows of the trail of access, deleted by `forget_before`: a trigger refuses every other way."""

    name, heavy = "access_events", ("what", "subject", "client")
    what = "the trail of sign-ins, rights, tokens, exports and downloads"

    def rows(self, before: datetime) -> QuerySet:
        return AccessEvent.objects.filter(at__lt=before)

    def _forget(self, keys: Iterable[int]) -> None:
        AccessEvent.objects.filter(pk__in=keys).forget_before(timezone.now())


KINDS = [Exports(), Uploads(), IdempotencyKeys(), Sessions(), Deliveries(), Jobs(), AccessEvents()]
