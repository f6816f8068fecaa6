"""Explaining as a background job."""

from collections.abc import Callable

from annotations.models import Job
from evaluation.asking.jobs import AskingWork
from evaluation.explaining.explaining import Explaining

RUNNERS: dict[str, Callable[[Job], bool]] = {Explaining.kind: lambda job: AskingWork(job, Explaining).work()}
