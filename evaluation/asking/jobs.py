"""Asking as a background job: started by people, done by workers in slices, each answer stored as soon as it is
there."""

import time
from collections import Counter
from datetime import datetime
from typing import Any

from django.utils import timezone

from agents.models import Run
from annotations.jobs import running as work
from annotations.models import Job
from annotations.text.amounts import amount
from evaluation.asking.budget import AskingBudget
from evaluation.asking.of_runs import AskingOfRuns

MAX_ERRORS = 500


class AskingWork:
    """The work of such a job. Tried again, it asks only of what has no answer yet."""

    def __init__(self, job: Job, asking: type[AskingOfRuns[Any]]) -> None:
        self.job, params = job, job.params
        self.runs = list(Run.objects.filter(pk__in=params["runs"]).select_related("dataset__project").order_by("pk"))
        if not self.runs:
            raise ValueError("the runs have been deleted")
        spent = job.report.get("spent", 0.0)
        self.budget = AskingBudget(params["max_cost"], spent, lambda cost: self._keep(spent=cost))
        self.asking = asking.of_job(job, self.budget)
        if "since" not in job.report:
            self._keep(since=timezone.now().isoformat())
        self.since = datetime.fromisoformat(job.report["since"])
        self.began = time.monotonic()

    def work(self) -> bool:
        """Work for one slice; True where another slice must go on."""
        of_all = self.asking.count(self.runs)
        done = of_all - sum(len(self.asking.waiting(run, self.since)) for run in self.runs)
        self._tell(done, of_all)
        for run in self.runs:
            for answer in self.asking.go_through(run, self.since):
                done += 1
                self._tell(done, of_all)
                if self.asking.is_stopped:
                    return self._end(stopped_by=answer.error)
                if work.is_slice_over(self.began):
                    return self.job.hand_back()
        return self._end()

    def _end(self, stopped_by: str = "") -> bool:
        """End the job, which does not go on: False."""
        found = list(self.asking.of_runs(self.runs))
        failed = [one for one in found if one.error]
        landed = len(found) - len(failed)
        report = {
            "counts": dict(Counter(one.word for one in found)),
            "landed": landed,
            "errors": [{"record": one.record, "message": one.error} for one in failed[:MAX_ERRORS]],
            "error_count": len(failed),
            "said": f"{self.asking.done} {amount(landed, *self.asking.noun)}",
            "model": self.asking.asked_with["model"],
            "spent": self.job.report.get("spent", 0.0),
        }
        ended = Job.State.DONE_WITH_ERRORS if failed else Job.State.DONE
        error = stopped_by or (failed[0].error if failed and not landed else "")
        self.job.end(Job.State.FAILED if error else ended, report, error)
        return False

    def _keep(self, **told: object) -> None:
        self.job.report |= told
        self.job.keep_report(self.job.report)

    def _tell(self, done: int, of_all: int) -> None:
        self.job.go_on_of(of_all, self.asking.noun[1], self.asking.doing, done)
