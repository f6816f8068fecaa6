"""What the first page shows: one's datasets, the latest studies and jobs."""

from typing import Any

from annotations import policy
from annotations.job_progress import job_live
from annotations.models import Dataset, Job
from evaluation.models import Study
from evaluation.study_progress import study_live, with_progress

LATEST = 6


def context(user) -> dict[str, Any]:
    studies = policy.visible(user, Study.objects.select_related("project", "created_by"))[:LATEST]
    jobs = policy.visible(user, Job.objects.select_related("project", "dataset", "created_by"))[:LATEST]
    return {
        "datasets": policy.visible(user, Dataset.objects.for_list()).order_by("-created_at")[:LATEST],
        "studies": [(study, study_live(study, with_progress(study))) for study in studies],
        "jobs": [(job, job_live(job)) for job in jobs],
        "may_import": policy.projects(user, "import").exists(),
        "may_evaluate": policy.projects(user, "evaluate").exists(),
    }
