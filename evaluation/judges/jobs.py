"""A judging as a background job: started by people, done by workers in slices, each verdict stored as soon as it is
there."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from agents.models import Run, Trajectory
from agents.prompts.packs import PACKAGED
from annotations.access import rules
from annotations.jobs import running as work
from annotations.jobs import stopping
from annotations.models import Job
from annotations.models.accounts.projects import Account
from annotations.text.amounts import amount
from evaluation.judges.budget import JudgingBudget
from evaluation.judges.judging import Judging, total
from evaluation.models import JudgeVerdict

MAX_ERRORS = 500


def start_judging(
    *,
    user: Account,
    runs: Sequence[Run],
    judge: str,
    connection: str = "",
    pack: str = PACKAGED,
    max_cost: float | None = None,
) -> Job:
    """A queued job that lets a judge say its verdict on the trajectories of runs of one project, or the one that does
    so already. Raises ValidationError."""
    for run in runs:
        rules.require(user, Job.Kind.JUDGE, run.dataset.project)
    dataset = runs[0].dataset
    project = dataset.project
    params: dict[str, Any] = {"name": dataset.name, "judge": judge, "connection": connection, "prompts": pack}
    params |= {"max_cost": max_cost, "runs": sorted({run.pk for run in runs})}
    unfinished = Job.objects.unfinished().filter(kind=Job.Kind.JUDGE, project=project, cancel_requested=False)
    if found := unfinished.filter(params=params).first():
        return found
    errors: dict[str, str] = {}
    try:
        Judging(judge, project, connection=connection, pack=pack, budget=JudgingBudget(max_cost))
    except ValueError as error:
        errors["__all__"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
    work.check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    of_one = {run.dataset_id for run in runs} == {dataset.pk}
    where: dict[str, Any] = {"project": project, "dataset": dataset if of_one else None}
    return work.queue(Job(kind=Job.Kind.JUDGE, created_by=user, params=params, **where))


class JudgingWork:
    """The work of such a job. Tried again, it asks only of what has no verdict yet."""

    def __init__(self, job: Job) -> None:
        self.job, params = job, job.params
        self.runs = list(Run.objects.filter(pk__in=params["runs"]).select_related("dataset__project").order_by("pk"))
        if not self.runs:
            raise ValueError("the runs have been deleted")
        spent = job.report.get("spent", 0.0)
        self.budget = JudgingBudget(params["max_cost"], spent, lambda cost: self._keep(spent=cost))
        asked = {"connection": params["connection"], "pack": params["prompts"]}
        self.judging = Judging(params["judge"], job.project, budget=self.budget, **asked)
        if "since" not in job.report:
            self._keep(since=timezone.now().isoformat())
        self.since = datetime.fromisoformat(job.report["since"])
        self.began = time.monotonic()

    def work(self) -> bool:
        """Work for one slice; True where another slice must go on."""
        of_all = Trajectory.objects.filter(run__in=self.runs, state=Trajectory.State.DONE).count()
        done = of_all - sum(len(self.judging.waiting(run, self.since)) for run in self.runs)
        self._tell(done, of_all)
        for run in self.runs:
            for verdict in self.judging.judge_run(run, self.since):
                done += 1
                self._tell(done, of_all)
                if self.judging.is_stopped:
                    return self._end(stopped_by=verdict.error)
                if stopping.asked() or time.monotonic() - self.began > work.SLICE_SECONDS:
                    return self.job.hand_back()
        return self._end()

    def _end(self, stopped_by: str = "") -> bool:
        """End the job, which does not go on: False."""
        rows = JudgeVerdict.objects.fresh().by(self.judging.name, self.judging.asked_with)
        found = list(rows.filter(trajectory__run__in=self.runs).select_related("trajectory__conversation"))
        failed = [one for one in found if one.error]
        landed = len(found) - len(failed)
        report = {
            "counts": dict(total(found)),
            "landed": landed,
            "errors": [
                {"record": one.trajectory.conversation.source_id, "message": one.error} for one in failed[:MAX_ERRORS]
            ],
            "error_count": len(failed),
            "said": f"Judged {amount(landed, 'trajectory', 'trajectories')}",
            "model": self.judging.asked_with["model"],
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
        self.job.go_on_of(of_all, "trajectories", "judging", done)


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.JUDGE: lambda job: JudgingWork(job).work()}
