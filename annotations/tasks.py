"""Celery tasks. Each calls one function of a wing, with ids as arguments and without a result."""

from celery import shared_task


@shared_task(queue="io")
def run_job(job_id: int, placed: bool = False) -> None:
    """Work on a job for one slice, here or on a host that suits it better. A message that is lost or repeated changes
    nothing but when that happens."""
    from annotations.jobs import running
    from annotations.models import Job

    if not placed and (queue := running.better_queue(job_id)):
        run_job.apply_async((job_id, True), queue=queue)
        return
    if Job.objects.filter(pk=job_id).of_queue("gpu").exists():
        running.propose_first()
    if running.makes_way(job_id):
        return
    job = Job.objects.claim(job_id)
    if job is not None and running.run(job):
        running.publish(job)


@shared_task(queue="default")
def reap() -> None:
    """Every 30 s: free the leases of dead workers, send messages of queued jobs again that may be lost, tidy up after
    parked ones."""
    from annotations.jobs import empty_datasets, running, waking
    from annotations.models import Job

    for job in Job.objects.filter(pk__in=Job.objects.reap()).unheard(waking.left_in):
        running.publish(job)
    empty_datasets.forget_lately()


@shared_task(queue="default")
def forget_old() -> None:
    """Daily: forget what is kept longer than the settings say; what does not fit into one task goes into another."""
    from annotations.retention.forgetting import forget
    from annotations.retention.kinds import BATCH
    from annotations.retention.leftover_files import sweep

    if any(count >= BATCH for count in forget().values()):
        forget_old.apply_async(countdown=60)
    sweep()


@shared_task(queue="default")
def forget_unused_pages() -> None:
    """Daily: delete pages that no step needs any more."""
    from annotations.pages.store import forget_unused_pages

    forget_unused_pages()


@shared_task(queue="default")
def keep_counts() -> None:
    """Every 5 minutes: fold the rows of differences that counts are made of, and count the pages of datasets that have
    changed."""
    from annotations.models import ConversationTally, Dataset

    ConversationTally.fold()
    for dataset in Dataset.objects.counted():
        if dataset.is_miscounted(dataset.step_count):
            dataset.count_pages(dataset.step_count)


@shared_task(queue="io")
def deliver_webhooks() -> None:
    """Every 10 s: send webhooks what has happened, and again what they have not taken yet."""
    from annotations.tell import webhooks

    webhooks.deliver_due()


@shared_task(queue="io")
def unmark_steps() -> None:
    """Every minute: take recorder's marks out of some of the steps that were stored before imports did so."""
    from annotations.corpus.unmarking import unmark_steps

    unmark_steps(limit=400)
