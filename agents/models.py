"""What agents remember, and what they did."""

from pathlib import Path

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import OuterRef, Q
from pgvector.django import HalfVectorField, HnswIndex, VectorField

from agents.encoders.weights import model_root
from annotations.models import Conversation, Dataset, Job, Operation, Project, Step, Turn, Website
from annotations.models.conversations import Split
from annotations.models.tallies import Tally, difference_triggers

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


class RunTally(Tally):
    """Stored steps of a run, and those of them in which the agent reported an error."""

    KEYS = ("run_id",)
    COUNTS = ("done", "failed")

    run = models.ForeignKey("Run", models.DO_NOTHING, related_name="+", db_constraint=False)
    done = models.IntegerField()
    failed = models.IntegerField()

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.done:+}"


class RunQuerySet(models.QuerySet):
    def with_progress(self) -> "RunQuerySet":
        """Runs with `done` and `failed`, their stored steps and those in which the agent reported an error."""
        here = {"run": OuterRef("pk")}
        return self.annotate(done=RunTally.total("done", **here), failed=RunTally.total("failed", **here))


class Run(models.Model):
    """One recipe on one split of a dataset with one seed. Stores the recipe whole, so that it can be repeated."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        DONE_WITH_ERRORS = "done_with_errors", "done, with errors"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    recipe_name = models.CharField(max_length=100)
    recipe = models.JSONField()
    recipe_sha256 = models.CharField(max_length=64)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="runs")
    split = models.CharField(max_length=20, choices=Split.choices, blank=True, help_text="Empty: every split.")
    seed = models.PositiveIntegerField(default=0)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="First conversations only.")
    code_revision = models.CharField(max_length=64, blank=True)
    data_sha256 = models.CharField(max_length=64, help_text="Of the conversations it covers.")
    step_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.recipe_name} on {self.dataset} · {self.split or 'all splits'} · seed {self.seed}"

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)


class Trajectory(models.Model):
    """An agent's steps in one conversation of a run."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    run = models.ForeignKey(Run, models.CASCADE, related_name="trajectories")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="trajectories")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    step_count = models.PositiveIntegerField(help_text="Steps that a complete trajectory has.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["conversation__position", "id"]
        verbose_name_plural = "trajectories"
        constraints = [models.UniqueConstraint(fields=["run", "conversation"], name="trajectory_once_per_run")]

    def __str__(self) -> str:
        return f"{self.run.recipe_name} · {self.conversation.source_id}"


class TrajectoryStep(models.Model):
    """The result of one sample: what the agent decided at one gold step, and what each stage recorded.

    `seq` is the step's place in its conversation: the sequence number of the live stream.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="steps")
    step = models.ForeignKey(Step, models.PROTECT, related_name="trajectory_steps")
    seq = models.PositiveIntegerField()
    operation = models.CharField(max_length=12, blank=True)
    node_id = models.CharField("backend node id", max_length=64, blank=True)
    value = models.TextField(blank=True)
    call_index = models.PositiveIntegerField(default=0, help_text="Model call that gave this action.")
    candidate_ids = ArrayField(models.CharField(max_length=64), default=list, help_text="Best first, at most 200.")
    candidate_scores = ArrayField(models.FloatField(), default=list)
    gold_rank = models.PositiveIntegerField(null=True, blank=True, help_text="Of the best gold element; empty: absent.")
    element_correct = models.BooleanField(default=False)
    operation_f1 = models.FloatField(default=0.0)
    success = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.FloatField(default=0.0, help_text="Of the model calls, in the currency of the configured prices.")
    exemplar_ids = ArrayField(models.BigIntegerField(), default=list, help_text="Exemplars shown, in prompt order.")
    workflow_ids = ArrayField(models.BigIntegerField(), default=list, help_text="Workflows shown, in prompt order.")
    milliseconds = models.FloatField(default=0.0)
    trace = models.JSONField(default=dict, help_text="Per stage word: what it saw and gave.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step"], name="step_result_once_per_run"),
            models.UniqueConstraint(fields=["trajectory", "seq"], name="trajectory_seq_once"),
            models.CheckConstraint(
                condition=Q(operation="") | Q(operation__in=Operation.values), name="decided_operation_known"
            ),
        ]
        indexes = [
            GinIndex(fields=["workflow_ids"], name="step_by_workflow"),
            models.Index(fields=["run", "created_at"]),  # how fast a run goes at this moment
        ]
        triggers = difference_triggers(RunTally, "counted.run_id", "1, (counted.error <> '')::int")

    def __str__(self) -> str:
        return f"{self.operation} {self.node_id} {self.value}".strip()


class LlmReply(models.Model):
    """A reply of a language model, kept under the hash of its whole request: the same question is paid for once."""

    key = models.CharField(max_length=64, unique=True)
    model = models.CharField(max_length=200)
    request = models.JSONField()
    reply = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "LLM replies"

    def __str__(self) -> str:
        return f"{self.model} {self.key[:12]}"


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


class SavedRecipe(models.Model):
    """A recipe that somebody derived from another: its parent's name and the settings that differ."""

    name = models.SlugField(max_length=100, unique=True)
    description = models.CharField(max_length=300, blank=True)
    parent = models.CharField(max_length=100)
    changes = models.JSONField(default=dict, blank=True, help_text="Dotted name of a setting -> its value as text.")
    project = models.ForeignKey(Project, models.CASCADE, related_name="recipes")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
