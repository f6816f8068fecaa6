"""Kinds of kept things. Another app adds its own to `KINDS` when it is ready, as with the runners of jobs."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from django.conf import settings
from django.db import models, transaction
from django.db.models import BigIntegerField, Count, Func, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

BATCH = 500


class Freed(NamedTuple):
    """What forgetting would free. Bytes of rows are freed for other rows of the database, not for the disk."""

    rows: int
    bytes: int


class KeptKind:
    """A kind of things that are kept for a time. `name` is that of its setting: RETENTION_<NAME>_DAYS."""

    name: ClassVar[str]
    what: ClassVar[str]  # for people: what goes when the time is over
    stays: ClassVar[str] = ""  # for people: what is kept all the same

    @property
    def setting(self) -> str:
        return f"RETENTION_{self.name.upper()}_DAYS"

    @property
    def days(self) -> int:
        """For how many days they are kept; 0: for ever."""
        return settings.RETENTION_DAYS[self.name]

    def before(self, days: int | None = None) -> datetime | None:
        """The moment before which things are forgotten; None: nothing is."""
        days = self.days if days is None else days
        return timezone.now() - timedelta(days=days) if days else None

    def estimate(self, days: int | None = None) -> Freed:
        """What `forget` would free, by the setting or by `days`."""
        raise NotImplementedError

    def forget(self, limit: int = BATCH) -> int:
        """Forget at most `limit` of them; returns how many. Fewer than `limit` means that nothing is left."""
        raise NotImplementedError


class ColumnSize(Func):
    """SQL: the bytes that a column takes as it is stored."""

    function = "pg_column_size"
    output_field: Any = BigIntegerField()


class TableRows(KeptKind):
    """A kind whose things are rows of one table. They are deleted; a subclass that overrides `_forget` thins them
    out."""

    heavy: ClassVar[tuple[str, ...]] = ()  # columns that hold most of the bytes

    def rows(self, before: datetime) -> models.QuerySet:
        """The rows that may go, older than `before`; never one that a release, a score or open work needs."""
        raise NotImplementedError

    def estimate(self, days: int | None = None) -> Freed:
        before = self.before(days)
        if before is None:
            return Freed(0, 0)
        size: Any = sum((Coalesce(ColumnSize(column), 0) for column in self.heavy), Value(0))
        rows = self.rows(before).order_by().aggregate(n=Count("pk"), size=Sum(size if self.heavy else Value(100)))
        return Freed(rows["n"], int(rows["size"] or 0))

    def forget(self, limit: int = BATCH) -> int:
        before = self.before()
        if before is None:
            return 0
        with transaction.atomic():
            keys = list(self.rows(before).order_by("pk").values_list("pk", flat=True)[:limit])
            self._forget(keys)
        return len(keys)

    def _forget(self, keys: Iterable) -> None:
        self.rows(timezone.now()).model._default_manager.filter(pk__in=keys).delete()


KINDS: list[KeptKind] = []
# Keys of jobs that stay whatever their age, as rows of higher wings name them.
NAMED_JOBS: list[Callable[[], models.QuerySet[Any, Any]]] = []
"""In the order of the operator's page."""
