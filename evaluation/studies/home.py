"""What the first page shows: one's datasets, the latest studies and jobs."""

from typing import Any

from annotations.access import rules
from annotations.jobs.progress import job_live
from annotations.models import Dataset, Job
from evaluation.models import Study

LATEST = 6


def context(user) -> dict[str, Any]:
    studies = rules.visible(user, Study.objects.select_related("project", "created_by"))[:LATEST]
    jobs = rules.visible(user, Job.objects.select_related("project", "dataset", "created_by"))[:LATEST]
    return {
        "datasets": rules.visible(user, Dataset.objects.for_list()).order_by("-created_at")[:LATEST],
        "studies": [(study, study.progress()) for study in studies],
        "jobs": [(job, job_live(job)) for job in jobs],
        "may_import": rules.projects(user, "import").exists(),
        "may_evaluate": rules.projects(user, "evaluate").exists(),
    }
