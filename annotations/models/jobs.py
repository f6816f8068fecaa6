"""Background jobs that people start: imports and exports, and what the agents app adds: training and induction."""

from pathlib import Path

from django.conf import settings
from django.db import models

from annotations.models.datasets import Dataset
from annotations.models.leases import Leased, LeaseQuerySet
from annotations.models.projects import Project
from annotations.storage import store

_MODEL = "start the gpu worker with CUDA_VISIBLE_DEVICES= to compute on the processor, or choose a smaller encoder."
LESS_MEMORY = {
    "train": "set a lower batch_size (and a higher accumulate) or max_length, gradient_checkpointing=true or "
    "mixed_precision=bf16, or choose a smaller base.",
    "embed": _MODEL,
    "induce": _MODEL,
    "import": "import the file in parts.",
}
"""Kind of job -> what makes it need less memory."""


class Job(Leased):
    """A long piece of work with its progress and its report."""

    class Kind(models.TextChoices):
        IMPORT = "import", "import"
        EXPORT = "export", "export"
        TRAIN = "train", "training"
        EMBED = "embed", "embedding"
        INDUCE = "induce", "workflow induction"
        REFINE = "refine", "rationales"
        PROPOSE = "propose", "proposals"
        RELEASE = "release", "release"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    project = models.ForeignKey(Project, models.CASCADE, related_name="jobs")
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, blank=True, related_name="jobs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    params = models.JSONField(default=dict, help_text="format, name, split, limit; path below IMPORT_ROOT.")
    file = models.CharField(max_length=500, blank=True, help_text="Upload to read or result to download, under var/.")
    progress = models.JSONField(default=dict, help_text="phase, done, total, unit, per_second.")
    furthest = models.JSONField(default=dict, help_text="unit -> the most that was ever done: progress goes beyond it.")
    report = models.JSONField(default=dict)
    cancel_requested = models.BooleanField(default=False)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.params.get('name', '?')}"

    def tell(self, progress: dict, **fields) -> bool:
        """Store the progress under our lease; False when it is lost or the job was cancelled. What has never been
        reached before makes earlier attempts forgotten: what dies at the same place again and again does not get on."""
        unit, done = progress.get("unit", ""), progress.get("done", 0)
        if done > self.furthest.get(unit, 0):
            self.furthest = fields["furthest"] = self.furthest | {unit: done}
            self.attempt = fields["attempt"] = min(self.attempt, 1)
        held = Job.objects.filter(pk=self.pk, lease_token=self.lease_token, cancel_requested=False)
        return bool(held.update(progress=progress, **fields))

    def memory_advice(self) -> str:
        return LESS_MEMORY.get(self.kind, "")

    def told(self) -> None:
        """Called after progress was stored; who works on the job where somebody waits for it sets another."""

    @property
    def path(self) -> Path:
        """The job's upload or result on this machine; fetched when it lies elsewhere. FileNotFoundError."""
        return store.local(self.file)
