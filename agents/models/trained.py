"""Models that were trained here."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from agents.encoders.weights import model_root
from agents.models.spending import Spending
from annotations.models import Dataset, Job, Project, Split
from annotations.shown_progress import ShownProgress

# The first that there is.
HEADLINES = ("dev_step_success", "dev_success", "dev_exact_match", "dev_recall@1", "train_loss")


class TrainedModelQuerySet(models.QuerySet["TrainedModel"]):
    def jobs(self) -> models.QuerySet[Any, Any]:
        """Keys of the jobs that have made them."""
        return self.exclude(job=None).values("job")

    def taught(self) -> Self:
        """Those that learnt from verdicts and corrections."""
        return self.filter(ready=True, metrics__lessons__gt=0)

    def unbegun(self) -> Self:
        """Models whose training ended before it began to learn (no curve). Another model may take the name of such a
        one."""
        return self.filter(curve=[], job__state__in=(Job.State.FAILED, Job.State.CANCELLED))


class TrainedModel(Spending):
    """Weights made here, in one folder below MODEL_ROOT, with everything needed to make them again."""

    class Kind(models.TextChoices):
        CROSS_ENCODER = "cross_encoder", "cross encoder (ranker)"
        DUAL_ENCODER = "dual_encoder", "dual encoder (ranker)"
        GROUNDED = "grounded", "grounded planner"
        SEQ2SEQ = "seq2seq", "sequence-to-sequence planner"
        CAUSAL = "causal", "causal planner"

    name = models.SlugField(max_length=100, unique=True, help_text="Recipes call it by this name.")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    base = models.CharField(max_length=300, help_text="Folder or name of the weights it started from.")
    project = models.ForeignKey(Project, models.CASCADE, related_name="models")
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True, related_name="trained_models")
    dataset_name = models.CharField(max_length=200)
    data_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the conversations it was trained on.")
    split = models.CharField(max_length=20, choices=Split.choices, default=Split.TRAIN)
    seed = models.PositiveIntegerField(default=0)
    config = models.JSONField(default=dict)
    metrics = models.JSONField(default=dict)
    curve = models.JSONField(default=list, help_text="One object per report of the training: step, loss, …")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="trained_models")
    files = models.JSONField(default=dict, blank=True, help_text="In the shared storage: sha256 of all and of each.")
    checkpoint = models.JSONField(default=dict, blank=True, help_text="Files of its training in the storage.")
    ready = models.BooleanField(default=False, help_text="Training has ended and the weights are complete.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = TrainedModelQuerySet.as_manager()

    FOUND = ("config", "metrics", "data_sha256", "curve", "files")  # by its training

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        return model_root() / self.name

    def current_job(self) -> Job:
        """The job of its training, read anew. Whoever trains a model gives it one."""
        assert self.job_id is not None
        return Job.objects.get(pk=self.job_id)

    def predecessors(self) -> TrainedModelQuerySet:
        """Models of its project with the same name that never began; this one takes their place."""
        return type(self).objects.filter(name=self.name, project=self.project).unbegun()

    def keep_checkpoint(self, files: dict[str, str]) -> None:
        """Store from where its training goes on: name -> where that file is stored."""
        type(self).objects.filter(pk=self.pk).update(checkpoint=files)
        self.checkpoint = files

    def keep_curve(self, curve: list[dict[str, Any]]) -> None:
        """Store the curve and nothing else, as its training goes on."""
        self.curve = list(curve)
        type(self).objects.filter(pk=self.pk).update(curve=self.curve)

    def finish(self) -> None:
        """Mark that the weights are complete, with what its training found; what slices kept to go on with is not
        needed any more, and what was spent meanwhile stays as it is."""
        self.ready, self.finished_at, self.checkpoint = True, timezone.now(), {}
        self.save(update_fields=[*self.FOUND, "ready", "finished_at", "checkpoint"])

    def headline(self) -> tuple[str, float] | None:
        """The metric that a list shows: name and value."""
        return next(((name, self.metrics[name]) for name in HEADLINES if name in self.metrics), None)

    def trained_with(self) -> dict[str, Any]:
        """The settings that it was trained with; before the training begins, those that were asked for."""
        return self.config or (self.job.params["changes"] if self.job else {})

    def progress(self) -> ShownProgress:
        """How far its training is. Its version changes with each point of the curve, upon which the page reads its
        parts again."""
        if self.job is None:
            state = "done" if self.ready else "failed"
            return ShownProgress(
                False, state, {"headline": self.name, "detail": "", "state": state, "state_label": state}
            )
        live = self.job.live()
        return replace(live, version=f"{live.version} {len(self.curve)}")
