"""What agents remember: past steps, whole trajectories of the train split, and workflows."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField, HnswIndex, VectorField

from annotations.models import Conversation, Dataset, Split, Step, Turn, Website

DIMENSIONS = 384  # all-MiniLM-L6-v2


class MemorySnippetQuerySet(models.QuerySet):
    def before(self, turn) -> "MemorySnippetQuerySet":
        """Snippets of earlier turns of the same conversation: never the gold future."""
        return self.filter(step__turn__conversation_id=turn.conversation_id, step__turn__index__lt=turn.index)


class MemorySnippet(models.Model):
    """One past step kept for the agent, with its embedding (Self-MAP, planners.md 5.2).

    No vector index: a conversation has at most some dozens of them, so its search is exact.
    """

    step = models.ForeignKey(Step, models.CASCADE, related_name="memory_snippets")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="memory_snippets")
    encoder = models.CharField(max_length=200)
    text = models.TextField()
    embedding = VectorField(dimensions=DIMENSIONS)

    objects = MemorySnippetQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["encoder", "step"], name="snippet_once_per_encoder")]
        indexes = [models.Index(fields=["conversation", "encoder"])]

    def __str__(self) -> str:
        return self.text[:80]


class Exemplar(models.Model):
    """A whole train-split trajectory shown in a prompt (Synapse), found by the embedding of its key text."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="exemplars")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="exemplars")
    turn = models.ForeignKey(
        Turn,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="exemplars",
        help_text="Empty: the conversation's first.",
    )
    split = models.CharField(max_length=20, choices=Split.choices)
    domain = models.CharField(max_length=200, blank=True)
    encoder = models.CharField(max_length=200)
    key_text = models.TextField()
    embedding = HalfVectorField(dimensions=DIMENSIONS)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["encoder", "conversation", "turn"], nulls_distinct=False, name="exemplar_once_per_encoder"
            ),
            # Retrieval must never see test data (style.md section 3).
            models.CheckConstraint(condition=Q(split="train"), name="exemplar_from_train_only"),
        ]
        indexes = [
            models.Index(fields=["dataset", "encoder"]),
            # Wider than pgvector's defaults (16, 64): they find only 9 of 10 neighbours where exemplars come in groups
            # of near copies; see `manage.py bench retrieval`.
            HnswIndex(
                name="exemplar_hnsw", fields=["embedding"], m=24, ef_construction=400, opclasses=["halfvec_cosine_ops"]
            ),
        ]

    def __str__(self) -> str:
        return self.key_text[:80]


class Workflow(models.Model):
    """A reusable routine with placeholders: induced from train trajectories (AWM offline), from what an agent did
    earlier in a run (online; then it belongs to that run), or written by a person."""

    class Origin(models.TextChoices):
        OFFLINE = "offline", "induced from the train split"
        ONLINE = "online", "induced during a run"
        PERSON = "person", "written by a person"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="workflows")
    website = models.ForeignKey(Website, models.SET_NULL, null=True, blank=True, related_name="workflows")
    name = models.CharField(max_length=200)
    description = models.TextField()
    body = models.TextField(help_text="One action per line, placeholders in braces.")
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.OFFLINE)
    run = models.ForeignKey("Run", models.CASCADE, null=True, blank=True, related_name="workflows")
    position = models.PositiveIntegerField(default=0, help_text="Order within the site.")
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    model_name = models.CharField(max_length=200, blank=True, help_text="Empty: written by a person.")
    sources = models.ManyToManyField(Conversation, blank=True, related_name="induced_workflows")
    encoder = models.CharField(max_length=200, blank=True)
    embedding = HalfVectorField(dimensions=DIMENSIONS, null=True, blank=True)

    class Meta:
        ordering = ["website__name", "position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "website", "run", "name"], nulls_distinct=False, name="workflow_name_once"
            ),
            models.CheckConstraint(
                condition=Q(origin="online", run__isnull=False) | (~Q(origin="online") & Q(run__isnull=True)),
                name="online_workflow_names_its_run",
            ),
        ]
        indexes = [
            HnswIndex(
                name="workflow_hnsw", fields=["embedding"], m=16, ef_construction=64, opclasses=["halfvec_l2_ops"]
            )
        ]

    def __str__(self) -> str:
        return self.name
