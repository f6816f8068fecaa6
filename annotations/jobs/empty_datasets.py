"""Datasets that an import has made, and of which nothing came: none. Whoever has begun to use one keeps it."""

from datetime import timedelta

from django.utils import timezone

from annotations.models import Job

LATELY = timedelta(hours=1)


def forget_lately() -> None:
    """Those of imports that ended without a worker: parked, or cancelled between two slices."""
    over = [Job.State.FAILED, Job.State.CANCELLED]
    ended = Job.objects.imports().filter(state__in=over, finished_at__gte=timezone.now() - LATELY)
    for job in ended.exclude(dataset=None):
        job.forget_bare_dataset()
