"""Follow a study from a terminal while workers run it."""

import time
from collections.abc import Callable

from django.db import OperationalError, connection

from agents.models import Run
from evaluation.models import Study

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 10
AWAY_SECONDS = 120  # a restart of the database takes seconds, one of its machine two minutes


def follow(study: Study, write: Callable[[str], object]) -> None:
    """Return when every run is over; writes a line whenever there are new results. The study does not need us: while
    the database is away, we wait for it. OperationalError when it stays away for longer than AWAY_SECONDS."""
    told, warned, begun = -1, False, time.monotonic()
    heard = begun
    while True:
        try:
            over = not study.runs.open().exists()
            done, waiting = study.runs.done_steps(), not study.runs.exclude(state=Run.State.QUEUED).exists()
            if over or done != told:
                write(study.summary())
        except OperationalError:
            connection.close()
            if time.monotonic() - heard > AWAY_SECONDS:
                raise
        else:
            told, heard = done, time.monotonic()
            if over:
                return
            if not warned and waiting and heard - begun > PATIENCE_SECONDS:
                write("no worker has taken it yet: is `make run` running? Or use --inline.")
                warned = True
        time.sleep(POLL_SECONDS)
