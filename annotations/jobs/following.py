"""Following from a terminal what workers do (a job, a training, a study), and doing a job in this process instead."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from django.db import OperationalError, connection

from annotations.jobs import running
from annotations.models import Job, Leased

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 10
AWAY_SECONDS = 120  # a restart of the database takes seconds, one of its machine two minutes


@dataclass(frozen=True)
class Standing:
    """How far work is. `line` is printed when `key` has changed; "" prints nothing. `waiting`: a part of it that waits,
    where no worker has taken any yet. `mend`: what whoever follows may do about that."""

    key: Hashable
    line: str
    waiting: Leased | None
    is_over: bool
    mend: str = "Or use --inline."


def follow(look: Callable[[], Standing], say: Callable[[str], object]) -> None:
    """Say how work goes and return when it is over. While the database is away we wait, as workers do the work without
    us; OperationalError when it stays away for longer than AWAY_SECONDS."""
    told, warned, begun = object(), False, time.monotonic()
    heard = begun
    while True:
        try:
            found = look()
        except OperationalError:
            connection.close()
            if time.monotonic() - heard > AWAY_SECONDS:
                raise
        else:
            heard = time.monotonic()
            if found.line and found.key != told:
                say(found.line)
                told = found.key
            if found.is_over:
                return
            if not warned and found.waiting and heard - begun > PATIENCE_SECONDS:
                say(f"{found.waiting.turn_text()}. {found.mend}")
                warned = True
        time.sleep(POLL_SECONDS)


def follow_job(job: Job, say: Callable[[str], object]) -> Job:
    """Say how a job goes until a worker has ended it."""

    def look() -> Standing:
        job.refresh_from_db()
        line = "" if job.is_over else _line(job)
        return Standing(line, line, job if job.state == Job.State.QUEUED else None, job.is_over)

    follow(look, say)
    return job


def work_inline(job: Job, say: Callable[[str], object] = lambda line: None) -> Job:
    """Work on a queued job in this process to its end, saying how it goes. An error that a worker would retry is
    raised, and the job may be run again."""
    while (claimed := Job.objects.claim(job.pk)) is not None:
        claimed.on_progress = partial(_say_line, say, claimed)
        running.run(claimed)
    return Job.objects.get(pk=job.pk)


def _say_line(say: Callable[[str], object], job: Job) -> None:
    say(_line(job))


def _line(job: Job) -> str:
    return " · ".join(part for part in (job.live().fields["headline"], job.progress.get("phase")) if part)
