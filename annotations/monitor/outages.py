"""Tells whether the database was away: stopped or killed, until it comes back. Such errors are logged in a line,
without traceback."""

import logging
import time
from functools import wraps

from django.db import InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)

OUTAGES = (OperationalError, InterfaceError)
PATIENCE_SECONDS = 60


def is_outage(error: BaseException | None) -> bool:
    """Whether the error means that the database was away: a broken connection has no SQLSTATE, and those of a server
    that stops or starts begin with 08 or 57P. An error of a statement that it refused is none."""
    if not isinstance(error, OUTAGES):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def in_a_line(error: BaseException) -> str:
    """The error's message without the advice that the database's client adds in further lines."""
    return str(error).strip().partition("\n")[0]


def patiently(write):
    """Decorator: try the write again for a while when the database is away, as what a worker says at the end of its
    work must not be lost."""

    @wraps(write)
    def until_it_answers(*args, **kwargs):
        began, is_told = time.monotonic(), False
        while True:
            try:
                return write(*args, **kwargs)
            except OUTAGES as error:
                if connection.in_atomic_block or time.monotonic() > began + PATIENCE_SECONDS:
                    raise
                if not is_told:  # once, not with every try
                    logger.warning("the database does not answer, waiting: %s", in_a_line(error))
                is_told = True
                connection.close()
                time.sleep(0.5)

    return until_it_answers
