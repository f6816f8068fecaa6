"""A real worker, and a study before a proposal in its queue: who waits at a desk goes first."""

import json

import pytest

from annotations.campaigns.propose import proposing
from annotations.models import Dataset, Job, Proposal
from evaluation.studies import running
from tests.agents.llm_server import serve
from tests.annotations.test_work_proposing import make_work
from tests.evaluation.study_rows import make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
SAID = [{"first_step": 1, "instruction": "Search for red shoes by price"}]


def test_a_proposal_is_made_before_the_studies_that_were_queued_first(
    dataset: Dataset, worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [make_study(dataset, publish=True).runs.get() for _ in range(3)]
    assignment = make_work(proposer="endpoint")
    assignment.begin()
    monkeypatch.setenv("LLM_MODEL", "test-model")
    with serve(lambda body: json.dumps({"parts": SAID})) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        job = proposing.Proposing(assignment).start_job("cuts", assignment.user)
        at_work = worker("first")
        at_work.wait_until(lambda: Job.objects.get(pk=job.pk).is_over, 120, "end of the proposal")
    job.refresh_from_db()
    assert (job.state, job.last_error) == (Job.State.DONE, "")
    assert Proposal.objects.get(pk=job.report["proposal"]).model_name == "test-model"
    decided = [row for run in runs for row in run.steps.order_by("pk")]
    assert all(row.created_at > job.finished_at for row in decided), "no step of a study came first"

    def over() -> bool:
        running.reap()
        return all(type(run).objects.get(pk=run.pk).is_over for run in runs)

    at_work.wait_until(over, 240, "end of the studies")
