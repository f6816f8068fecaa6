"""Following a job from the command line, as the commands do that start one."""

import time
from collections.abc import Callable
from functools import partial

from annotations.jobs import running
from annotations.models import Job

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 10


def work_inline(job: Job, say: Callable[[str], object] = lambda line: None) -> Job:
    """Work on a queued job in this process to its end, saying how it goes. What a worker would retry is raised; it may
    be run again."""
    while (claimed := Job.objects.claim(job.pk)) is not None:
        claimed.on_progress = partial(_say_line, say, claimed)
        running.run(claimed)
    return Job.objects.get(pk=job.pk)


def _say_line(say: Callable[[str], object], job: Job) -> None:
    say(_line(job))


def follow(job: Job, say: Callable[[str], object]) -> Job:
    """Say how a job goes until a worker has ended it; cancels it when the caller is interrupted."""
    told, warned, begun = "", False, time.monotonic()
    try:
        while not (found := Job.objects.get(pk=job.pk)).is_over:
            if (line := _line(found)) != told:
                say(line)
                told = line
            if not warned and found.state == Job.State.QUEUED and time.monotonic() - begun > PATIENCE_SECONDS:
                say("no worker has taken it yet: is `make run` running? Or use --inline.")
                warned = True
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        job.cancel()
        raise
    return found


def _line(job: Job) -> str:
    return " · ".join(part for part in (job.live().fields["headline"], job.progress.get("phase")) if part)
