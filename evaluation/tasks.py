"""Celery tasks of this app. Each calls one function of a wing, with ids as arguments."""

from celery import shared_task
from structlog.contextvars import bound_contextvars

KEEPER_SECONDS = 2.0  # until it is looked again whether the process that keeps a shard's browsers is free


@shared_task(queue="gpu")
def run_shard(shard_id: int, placed: bool = False) -> None:
    """Decide the missing steps of one shard. A repeated message is harmless: only one worker gets the lease."""
    from annotations.jobs.running import propose_first
    from evaluation.models import Shard
    from evaluation.studies import placing, sample
    from evaluation.studies.running import work

    propose_first()
    if queue := placing.keeper_queue(shard_id):
        Shard.objects.filter(pk=shard_id).note_message()
        run_shard.apply_async((shard_id,), queue=queue, countdown=KEEPER_SECONDS)
        placed = False
    chosen = shard_id if placed else placing.best_of(shard_id)
    if placing.keeper_queue(chosen):  # nothing else waits
        return
    waiting = Shard.objects.select_related("run").filter(pk=chosen, state=Shard.State.QUEUED).first()
    if not placed and waiting and (queue := placing.queue_for(waiting)):
        run_shard.apply_async((chosen, True), queue=queue)
        return
    shard = Shard.objects.select_related("run").claim(chosen)
    if shard is not None:
        with bound_contextvars(run=shard.run_id):
            work(shard)
        sample.grow_all()


@shared_task(queue="default")
def count_reviews() -> None:
    """Bring new reviews into scores. A repeated message is harmless."""
    from evaluation.reviews import counting

    counting.count_reviews()


@shared_task(queue="default")
def scan_runs() -> None:
    """Scan the failures of the next run that is over; where more wait, another message is sent. A repeated message is
    harmless."""
    from evaluation.scores import scanning

    if scanning.scan_next() and scanning.to_scan().exists():
        scan_runs.delay()


@shared_task(queue="default")
def reap() -> None:
    """Every 30 s: free the shards of dead workers, send the messages of waiting ones again, end complete runs, count
    reviews whose message was lost, have ended runs scanned, and let the studies of the sample grow."""
    from evaluation.reviews import counting
    from evaluation.scores import scanning
    from evaluation.studies import running, sample

    running.reap()
    counting.count_reviews()
    sample.grow_all()
    if scanning.to_scan().exists():
        scan_runs.delay()
