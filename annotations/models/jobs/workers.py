"""The register of workers, which they write themselves: where they run, what they take, what they hold."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models.functions import Now

from annotations.hosts.identity import owner_of

ALIVE = timedelta(seconds=60)  # of silence until a worker counts as gone
REMEMBERED = timedelta(days=7)


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self) -> Self:
        return self.filter(seen_at__gt=Now() - ALIVE)

    def takes(self, queue: str) -> bool:
        """Whether a live worker takes work from this queue."""
        return self.taking(queue).exists()

    def taking(self, queue: str) -> Self:
        """Live workers that take work from this queue."""
        return self.alive().filter(queues__contains=[queue])

    def have(self, owner: str) -> bool:
        """Whether a process, as leases name it, is one of these workers': a command that does the work in a terminal
        takes nothing else."""
        process = owner_of(owner)
        mains = (owner_of(main) for main in self.values_list("owner", flat=True))
        return process is not None and any(main is not None and process.is_of(main) for main in mains)

    def busy_text(self, works: Sequence[str]) -> str:
        """That all of these workers are busy, and with what; "" where one is free. `works`: what each of their
        processes is at, with an article."""
        count = sum(self.values_list("processes", flat=True))
        if not works or len(works) < count:
            return ""
        who = f"all {count:,} workers are" if count > 1 else "the only worker is"
        return f"{who} busy with {'; and with '.join(dict.fromkeys(works))}"

    def tell(self, owner: str, **facts) -> None:
        """Note that a worker is alive, and what it holds; workers that have been silent for a week are forgotten."""
        self.update_or_create(owner=owner, defaults=facts | {"seen_at": Now()})
        self.filter(seen_at__lt=Now() - REMEMBERED).delete()

    def lose(self, host: str, weights: str) -> None:
        """Note that weights no longer lie on a host, which its workers would say only when they are heard next."""
        for worker in self.filter(host=host, held__contains=[weights]):
            self.filter(pk=worker.pk).update(held=[name for name in worker.held if name != weights])


class Worker(models.Model):
    """A worker's main process. Its row is a hint for placing work and a line on the operator's page, never a lock."""

    owner = models.CharField(max_length=200, unique=True, help_text="The process, as leases name it.")
    name = models.CharField(max_length=200, help_text="As Celery calls it.")
    host = models.CharField(max_length=32, db_index=True, help_text="Id in the host's var/host-id.")
    hostname = models.CharField(max_length=100)
    queues = models.JSONField(default=list)
    processes = models.PositiveSmallIntegerField(default=1, help_text="How much it does at the same time.")
    memory_bytes = models.BigIntegerField(default=0, help_text="Of the machine, or of its container.")
    gpus = models.JSONField(default=list, help_text="Of each device: index, name, total_bytes.")
    held = models.JSONField(default=list, help_text="Names of the weights that lie on its host.")
    versions = models.JSONField(default=dict, help_text="code, python, torch, …")
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(db_index=True, help_text="By the database's clock.")

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["hostname", "name", "-seen_at"]

    def __str__(self) -> str:
        return f"{self.name} on {self.hostname}"

    @property
    def gpu_bytes(self) -> int:
        """Memory of its largest device in bytes; 0 without one."""
        return max((gpu["total_bytes"] for gpu in self.gpus), default=0)

    @property
    def devices_at_once(self) -> int:
        """How many devices one piece of its work can use: all; where the worker has several processes, one each."""
        return len(self.gpus) if self.processes == 1 else min(len(self.gpus), 1)
