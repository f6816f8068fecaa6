"""A judging as a background job."""

from collections.abc import Callable

from annotations.models import Job
from evaluation.asking.jobs import AskingWork
from evaluation.judges.judging import Judging

RUNNERS: dict[str, Callable[[Job], bool]] = {Judging.kind: lambda job: AskingWork(job, Judging).work()}
