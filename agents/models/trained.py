"""Models that were trained here."""

from pathlib import Path

from django.conf import settings
from django.db import models

from agents.encoders.weights import model_root
from annotations.models import Dataset, Job, Project, Split


class TrainedModel(models.Model):
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

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        return model_root() / self.name
