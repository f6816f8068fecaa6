"""Follow a study from a terminal while workers run it."""

import time
from collections.abc import Callable

from django.db.models import Min, Sum

from agents.models import Run, RunTally
from evaluation.models import Study

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 10


def follow(study: Study, write: Callable[[str], object]) -> None:
    """Return when every run is over; writes a line whenever there are new results."""
    told, warned, begun = -1, False, time.monotonic()
    while study.runs.filter(state__in=(Run.State.QUEUED, Run.State.RUNNING)).exists():
        done = _done(study)
        if done != told:
            write(progress(study))
            told = done
        waiting = not study.runs.exclude(state=Run.State.QUEUED).exists()
        if not warned and waiting and time.monotonic() - begun > PATIENCE_SECONDS:
            write("no worker has taken it yet: is `make run` running? Or use --inline.")
            warned = True
        time.sleep(POLL_SECONDS)
    write(progress(study))


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
