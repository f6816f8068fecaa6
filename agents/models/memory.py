"""What agents remember: past steps, whole trajectories of the train split, and workflows."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from django.conf import settings
from django.db import connection, models
from django.db.models import Case, CharField, F, Prefetch, Q, Value, When
from django.utils import timezone
from pgvector.django import CosineDistance, HalfVectorField, L2Distance, VectorField

from agents.encoders import weights
from agents.models.searching import EncodedQuerySet, NearestIndex, NearestQuerySet
from agents.prompts.packs import PACKAGED
from annotations.models import Conversation, Dataset, Split, Step, Turn, Website
from annotations.models.accounts.projects import Account, User

# One round trip for a whole batch. Ties go to the later step, as in the published code (sources.md M5.2).
SNIPPETS_SQL = """
SELECT q.n, found.step_id, found.turn_index, found.step_index, found.instruction, found.action, found.similarity
FROM unnest(%s::int[], %s::bigint[], %s::int[], %s::text[]) AS q(n, conversation, turn_index, embedding)
CROSS JOIN LATERAL (
    SELECT snippet.step_id, turn.index AS turn_index, step.index AS step_index, turn.instruction,
           COALESCE(NULLIF(step.action_repr, ''), step.operation || ' ' || step.value) AS action,
           1 - (snippet.embedding <=> q.embedding::vector) AS similarity
    FROM agents_memorysnippet snippet
    JOIN annotations_step step ON step.id = snippet.step_id
    JOIN annotations_turn turn ON turn.id = step.turn_id
    WHERE snippet.conversation_id = q.conversation AND snippet.encoder = %s
      AND turn.index < q.turn_index  -- earlier turns only: never the gold future
    ORDER BY snippet.embedding <=> q.embedding::vector, turn.index DESC, step.index DESC
    LIMIT %s
) found
ORDER BY q.n, found.similarity DESC, found.turn_index DESC, found.step_index DESC
"""


class MemorySnippetQuerySet(EncodedQuerySet["MemorySnippet"]):
    def before(self, turn: Turn) -> Self:
        """Snippets of earlier turns of the same conversation: never the gold future."""
        return self.filter(step__turn__conversation_id=turn.conversation_id, step__turn__index__lt=turn.index)

    def nearest_earlier(
        self, encoder: str, places: Sequence[tuple[int, int]], queries: Sequence[np.ndarray], k: int
    ) -> list[tuple]:
        """Per place (conversation, turn) the k snippets of earlier turns that are most like its query: (number of the
        place, step, turn, step in its turn, instruction, action, similarity). Measured among 768 snippets: 31 ms for
        32 places, 168 ms through the ORM, a query each."""
        conversations, turns = zip(*places, strict=True)
        vectors = [_literal(query) for query in queries]
        with connection.cursor() as cursor:
            values: list[Any] = [list(range(len(places))), list(conversations), list(turns), vectors, encoder, k]
            cursor.execute(SNIPPETS_SQL, values)
            return cursor.fetchall()


def _literal(vector: np.ndarray) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"


class MemorySnippet(models.Model):
    """One past step kept for the agent, with its embedding (Self-MAP, sources.md M5.2).

    No vector index: a conversation has at most some dozens of them, so its search is exact.
    """

    step = models.ForeignKey(Step, models.CASCADE, related_name="memory_snippets")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="memory_snippets")
    encoder = models.CharField(max_length=200)
    text = models.TextField()
    embedding = VectorField(help_text="Of as many dimensions as its encoder has.")

    objects = MemorySnippetQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["encoder", "step"], name="snippet_once_per_encoder")]
        indexes = [models.Index(fields=["conversation", "encoder"])]

    def __str__(self) -> str:
        return self.text[:80]


class ExemplarQuerySet(NearestQuerySet["Exemplar"]):
    # The order is that of L2, which is the root of twice this where vectors have length 1. Wider than pgvector's
    # defaults (16, 64): they find only 9 of 10 neighbours where exemplars come in groups of near copies; see
    # `manage.py bench retrieval`.
    INDEX = NearestIndex("exemplar_hnsw", CosineDistance, "halfvec_cosine_ops", m=24, ef_construction=400)

    def of_environment(self, domain: str, subdomain: str, website: str) -> Self:
        """Exemplars of the same site; where there are none those of the same domain and subdomain, else all."""
        same_domain = self.filter(conversation__website__domain=domain)
        for pool in (
            same_domain.filter(conversation__website__name=website),
            same_domain.filter(conversation__website__subdomain=subdomain),
        ):
            if pool.exists():
                return pool
        return self


class Exemplar(models.Model):
    """A whole train-split trajectory shown in a prompt (Synapse), found by the embedding of its key text."""

    distance: float  # cosine distance to what was asked, where the nearest were looked for

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
    embedding = HalfVectorField(help_text="Of as many dimensions as its encoder has.")

    objects = ExemplarQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["encoder", "conversation", "turn"], nulls_distinct=False, name="exemplar_once_per_encoder"
            ),
            # Retrieval must never see test data: a score would count what was looked up.
            models.CheckConstraint(condition=Q(split="train"), name="exemplar_from_train_only"),
        ]
        indexes = [models.Index(fields=["dataset", "encoder"])]  # and one per encoder: `open_for`

    def __str__(self) -> str:
        return self.key_text[:80]

    def l2(self) -> float | None:
        """Its L2 distance from the query, by its cosine distance (both are unit vectors; rounding can make that
        negative); None for an exemplar that was drawn."""
        cosine = getattr(self, "distance", None)
        return None if cosine is None else math.sqrt(2 * max(cosine, 0.0))


class WorkflowQuerySet(models.QuerySet["Workflow"]):
    def standing(self) -> Self:
        """Workflows of the dataset, without those that runs induced for themselves."""
        return self.filter(run=None)

    def embedded_by(self, encoder: str) -> Self:
        return self.filter(vectors__encoder=encoder)

    def nearest(self, encoder: str, query: Any, k: int) -> list["Workflow"]:
        """The k workflows whose description is nearest to the query, with `distance` on each."""
        vectors = WorkflowVector.objects.filter(encoder=encoder, workflow__in=self).select_related("workflow__website")
        found = vectors.nearest(query, k)
        for vector in found:
            vector.workflow.distance = vector.distance
        return [vector.workflow for vector in found]

    def with_encoders(self) -> Self:
        """Workflows with what `Workflow.encoder` reads: their vectors' encoders, without the vectors themselves."""
        return self.prefetch_related(Prefetch("vectors", WorkflowVector.objects.defer("embedding")))

    def named(self, name: str, website_id: int | None) -> Self:
        """Workflows of this name that belong to a website, or to none (None)."""
        return self.standing().filter(website=website_id, name=name)

    def with_gold_split(self) -> Self:
        """Workflows with `gold_split`, the split whose gold a workflow may tell. One that a run induced repeats what
        the run's steps were shown, gold actions of earlier steps included; a run over every split has test steps among
        them."""
        told = Case(
            When(run=None, then=Value("train")),
            When(run__split="", then=Value("test")),
            default=F("run__split"),
            output_field=CharField(),
        )
        return self.annotate(gold_split=told)

    def containing(self, text: str) -> Self:
        """Workflows with this text in their name, description or steps."""
        return self.filter(Q(name__icontains=text) | Q(description__icontains=text) | Q(body__icontains=text))

    def by_website(self) -> Self:
        return self.order_by("website__name", "website_id", "position", "pk")

    def encoder(self) -> str:
        """The encoder of the newest workflow that is embedded; the packaged one where none is."""
        known = WorkflowVector.objects.filter(workflow__in=self).order_by("-workflow", "-pk")
        return known.values_list("encoder", flat=True).first() or weights.MINILM


class Workflow(models.Model):
    """A reusable routine with placeholders: induced from train trajectories (AWM offline), from what an agent did
    earlier in a run (online; then it belongs to that run), or written by a person."""

    class Origin(models.TextChoices):
        OFFLINE = "offline", "induced from the train split"
        ONLINE = "online", "induced during a run"
        PERSON = "person", "written by a person"

    class Style(models.TextChoices):
        CONCRETE = "concrete", "concrete: elements by their own names"
        ABSTRACT = "abstract", "abstract: elements by what they are for"

    distance: float  # L2 distance to what was asked, where the nearest were looked for
    used: int  # trajectories that recalled it, where a page has counted

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="workflows")
    website = models.ForeignKey(Website, models.SET_NULL, null=True, blank=True, related_name="workflows")
    name = models.CharField(max_length=200)
    description = models.TextField()
    body = models.TextField(help_text="One action per line, placeholders in braces.")
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.OFFLINE)
    style = models.CharField(
        max_length=8, choices=Style.choices, default=Style.CONCRETE, help_text="How a model was asked to write it."
    )
    prompts = models.CharField(
        max_length=100, default=PACKAGED, help_text="The prompt pack whose words asked a model for it."
    )
    run = models.ForeignKey("Run", models.CASCADE, null=True, blank=True, related_name="workflows")
    position = models.PositiveIntegerField(default=0, help_text="Order within the site.")
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    model_name = models.CharField(max_length=200, blank=True, help_text="Empty: written by a person.")
    sources = models.ManyToManyField(Conversation, blank=True, related_name="induced_workflows")

    objects = WorkflowQuerySet.as_manager()

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

    def __str__(self) -> str:
        return self.name

    @property
    def encoder(self) -> str:
        """The encoders that have embedded its description, in one line; "" where none has."""
        return ", ".join(sorted(vector.encoder for vector in self.vectors.all()))

    def place_last(self) -> None:
        """Set its position behind the other workflows of its website."""
        self.position = self.dataset.workflows.standing().filter(website=self.website).count()

    def become(self, blank: Self, position: int, description: str, steps: Sequence[str]) -> None:
        """Take over and store a workflow that a model wrote; `blank` has the fields that all workflows of the answer
        share."""
        for name in ("dataset", "website", "run", "origin", "model_name", "style", "prompts"):
            setattr(self, name, getattr(blank, name))
        self.position, self.description, self.body = position, description, "\n".join(steps)
        self.save()

    def may_be_edited_by(self, user: User) -> bool:
        """One that a run induced stays as the run made it."""
        return self.run_id is None and self.dataset.project.lets(user, "annotate")

    def correct(self, user: Account, values: dict[str, Any]) -> bool:
        """Store what a person changed or wrote; it is then no longer replaced by a model's. True when the description
        is another: it must be embedded, and is found by its site alone until then."""
        changed = self.pk is None or values.get("description", self.description) != self.description
        for name, value in values.items():
            setattr(self, name, value)
        self.edited_by, self.edited_at = user, timezone.now()
        self.save()
        if changed:
            self.vectors.all().delete()
        return changed

    def remove(self) -> None:
        """Show it in no prompt any more; trajectories that recalled it keep what they were shown."""
        self.delete()


class WorkflowVectorQuerySet(NearestQuerySet["WorkflowVector"]):
    INDEX = NearestIndex("workflow_hnsw", L2Distance, "halfvec_l2_ops", m=16, ef_construction=64)

    def put(self, encoder: str, vectors: Sequence[tuple[Workflow, np.ndarray]]) -> None:
        """Store the vectors of some workflows, in place of those by the same encoder."""
        if vectors:
            self.open_for(encoder, len(vectors[0][1]))
        self.bulk_create(
            (WorkflowVector(workflow=workflow, encoder=encoder, embedding=vector) for workflow, vector in vectors),
            update_conflicts=True,
            unique_fields=["workflow", "encoder"],
            update_fields=["embedding"],
        )


class WorkflowVector(models.Model):
    """The description of a workflow, embedded by one encoder. MIMS finds workflows by it."""

    distance: float  # to what was asked, where the nearest were looked for

    workflow = models.ForeignKey(Workflow, models.CASCADE, related_name="vectors")
    encoder = models.CharField(max_length=200)
    embedding = HalfVectorField(help_text="Of as many dimensions as its encoder has.")

    objects = WorkflowVectorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "encoder"], name="workflow_vector_once")]

    def __str__(self) -> str:
        return f"{self.workflow} by {self.encoder}"
