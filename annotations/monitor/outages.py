"""When the database is away: it was stopped or killed, and comes back. A line is enough for who met it."""

from django.db import InterfaceError, OperationalError

OUTAGES = (OperationalError, InterfaceError)


def is_outage(error: BaseException | None) -> bool:
    """Whether the database was not there: a connection that broke has no SQLSTATE, those of a server that stops or
    starts begin with 57P. What it refused, it was there for."""
    if not isinstance(error, OUTAGES):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def in_a_line(error: BaseException) -> str:
    """What the database's client says, without its advice."""
    return str(error).strip().partition("\n")[0]
