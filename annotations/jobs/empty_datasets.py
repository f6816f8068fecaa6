"""Datasets that an import has made, and of which nothing came: none. Whoever has begun to use one keeps it."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotations.models import Dataset, Job

LATELY = timedelta(hours=1)


def forget_lately() -> None:
    """Those of imports that ended without a worker: parked, or cancelled between two slices."""
    over = [Job.State.FAILED, Job.State.CANCELLED]
    ended = Job.objects.imports().filter(state__in=over, finished_at__gte=timezone.now() - LATELY)
    for job in ended.exclude(dataset=None):
        forget(job)


def forget(job: Job) -> None:
    """The one of an import that has failed or was cancelled."""
    if not job.params.get("made_dataset"):
        return
    with transaction.atomic():
        made = Dataset.objects.select_for_update().filter(jobs=job).first()
        if made is not None and made.is_bare(but=job):
            made.delete()
