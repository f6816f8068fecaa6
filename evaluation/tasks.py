"""Celery tasks of evaluations: short doors to functions."""

from celery import shared_task
from structlog.contextvars import bind_contextvars


@shared_task(queue="gpu")
def run_shard(shard_id: int) -> None:
    """Decide the missing steps of one shard. Repeating the message is harmless: only one worker gets the lease."""
    from evaluation.models import Shard
    from evaluation.studies import work

    shard = Shard.objects.select_related("run").claim(shard_id)
    if shard is not None:
        bind_contextvars(run=shard.run_id)
        work(shard)


@shared_task(queue="default")
def reap() -> None:
    """Every 30 s: free the shards of dead workers, publish again what waits, end what is complete."""
    from evaluation import studies

    studies.reap()
