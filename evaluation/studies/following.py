"""Follow a study from a terminal while workers run it."""

import time
from collections.abc import Callable

from django.db import OperationalError, connection
from django.db.models import Min, Sum

from agents.models import Run, RunTally
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
            over = not study.runs.filter(state__in=(Run.State.QUEUED, Run.State.RUNNING)).exists()
            done, waiting = _done(study), not study.runs.exclude(state=Run.State.QUEUED).exists()
            if over or done != told:
                write(progress(study))
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


def progress(study: Study) -> str:
    """ "running: 120 of 366 steps, 14 steps/s"; the state is that of the run that is least far."""
    runs = list(study.runs.order_by("pk"))
    open_runs = [run for run in runs if not run.is_over]
    totals = study.runs.aggregate(total=Sum("step_count"), started=Min("started_at"))
    done = _done(study)
    elapsed = time.time() - totals["started"].timestamp() if totals["started"] else 0
    rate = f", {done / elapsed:.0f} steps/s" if elapsed > 1 else ""
    return f"{(open_runs or runs)[0].state}: {done:,} of {totals['total']:,} steps{rate}"


def _done(study: Study) -> int:
    """Stored steps of all of its runs."""
    return RunTally.objects.filter(run__in=study.runs.all()).aggregate(n=Sum("done"))["n"] or 0
