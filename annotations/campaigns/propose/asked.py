"""Models that people have asked for a proposal: why nobody would answer, and what somebody who waits is told."""

from typing import Any

from annotations.campaigns.propose import proposing
from annotations.campaigns.propose.proposing import NoProposals
from annotations.jobs.waking import nobody_takes
from annotations.models import Assignment, Job, Proposal
from annotations.text.amounts import amount

NOBODY = (
    "No worker is here that could ask the model. Whoever runs this site can start one (“make run” does); until then, "
    "propose by rules, or write the parts yourself."
)


def check_answered(connection: str) -> None:
    """Raise NoProposals where the model that a campaign asks would not answer: at once, with what to do."""
    proposing.check_reached(connection)
    if nobody_takes(Job.queue_of(Job.Kind.PROPOSE)):
        raise NoProposals(NOBODY)


class AwaitedProposal:
    """A job that asks a model for a proposal for an annotation."""

    def __init__(self, job: Job, assignment: Assignment) -> None:
        self.job, self.assignment = job, assignment

    def made(self) -> Proposal | None:
        return self.assignment.proposals.filter(pk=self.job.report.get("proposal")).first()

    def words(self) -> dict[str, Any]:
        """Why there is no proposal ("error"), or what it waits for ("waits"); both are "" of one that is there."""
        if self.made():
            return {"error": "", "waits": ""}
        if self.job.is_over:
            return {"error": self.job.last_error or "It was stopped.", "waits": ""}
        return {"error": "", "waits": self._waits()}

    def _waits(self) -> str:
        if self.job.state == Job.State.RUNNING:
            return self.job.progress.get("phase") or "The model is being loaded"
        if nobody_takes(self.job.queue):
            return "There is no worker any more that could ask the model"
        before = self.job.before_it
        are = "is" if before == 1 else "are"
        first = f"; {amount(before, 'other proposal')} {are} made before it" if before else ""
        said = f"{self.job.turn_text()}{first}"
        return f"{said[0].upper()}{said[1:]}"
