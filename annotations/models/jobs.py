"""Background jobs that people start: imports and exports, and what the agents app adds: training and induction."""

from pathlib import Path

from django.conf import settings
from django.db import models

from annotations.models.datasets import Dataset
from annotations.models.leases import Leased, LeaseQuerySet
from annotations.models.projects import Project
from annotations.storage import store


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
    report = models.JSONField(default=dict)
    cancel_requested = models.BooleanField(default=False)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.params.get('name', '?')}"

    def told(self) -> None:
        """Called after progress was stored; who works on the job where somebody waits for it sets another."""

    @property
    def path(self) -> Path:
        """The job's upload or result on this machine; fetched when it lies elsewhere. FileNotFoundError."""
        return store.local(self.file)
