"""Leases: the right of one holder at a time to write a row, of a person on an item as of a worker on a job or a
shard."""

import uuid
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.db import connection, models
from django.db.models.functions import Now

H = TypeVar("H", bound="Lease")


def database_now() -> datetime:
    """The database's time now, as a value, for what a browser counts down or two hosts compare: 0.1 ms."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    return now


class LeaseQuerySet(models.QuerySet[H]):
    def leased(self) -> Self:
        """Rows whose lease is live: somebody is at work on them now."""
        return self.filter(lease_until__gt=Now())

    def run_out(self) -> Self:
        """Rows whose lease ran out: their holder has sent no heartbeat for so long."""
        return self.filter(lease_until__lt=Now())

    def under(self, token: uuid.UUID | str | None) -> Self:
        """Rows that the holder of this token may write: nobody has taken them over, and work on them is not over. None
        without a token: a row that nobody holds is nobody's to write."""
        if token is None:
            return self.none()
        return self.filter(lease_token=token, state__in=self.model.WRITABLE)


class Lease(models.Model):
    """A row that one holder at a time works on. The token is the right to write: whoever takes the row over gets a new
    one, so that the former holder, coming back late, does no harm.

    Its columns, COLUMNS, are declared by each table.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("lease_token", "lease_until", "heartbeat_at")

    lease_token: Any
    lease_until: Any
    LEASE: ClassVar[timedelta]
    WRITABLE: ClassVar[tuple[str, ...]]  # states in which a token is good
    FREE: ClassVar[dict[str, Any]] = {"lease_token": None, "lease_until": None}
    """What giving back writes."""

    class Meta:
        abstract = True

    @classmethod
    def clock(cls) -> Any:
        """The database's time, as an expression: the clocks of hosts differ."""
        return Now()

    @classmethod
    def longer(cls, now: Any = None) -> dict[str, Any]:
        """The columns that a heartbeat writes: the lease, extended. `now`: the time by `clock`, where it was read
        already."""
        now = now or cls.clock()
        return {"lease_until": now + cls.LEASE, "heartbeat_at": now}

    @classmethod
    def anew(cls) -> dict[str, Any]:
        """The columns of a new lease, with a token that nobody else has."""
        return {"lease_token": uuid.uuid4()} | cls.longer()

    def under_lease(self) -> LeaseQuerySet[Self]:
        """This row as a set of one, empty once the lease that was read or taken with it is lost."""
        return LeaseQuerySet(type(self)).filter(pk=self.pk).under(self.lease_token)


class PersonsLease(Lease):
    """A lease of a person, who is told on a page until when they may write."""

    class Meta:
        abstract = True

    @classmethod
    def clock(cls) -> datetime:
        """The database's time as a value, so that the hosts of pages and of workers and the browser count down the
        same."""
        return database_now()

    @property
    def is_leased(self) -> bool:
        return self.lease_until is not None and self.lease_until > self.clock()
