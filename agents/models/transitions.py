"""What actions did to pages: recorded transitions, found again by what was wanted, on which element and how."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from django.db import models
from django.db.models import Q
from pgvector.django import CosineDistance, HalfVectorField

from agents.models.searching import NearestIndex, NearestQuerySet
from agents.models.steps import TrajectoryStep
from agents.prompts.packs import PACKAGED
from annotations.models import Conversation, Dataset, Operation, Split, Step

TOLD = ("key_text", "role", "name", "effects", "across_turns")  # by rules, which change


class TransitionQuerySet(models.QuerySet["Transition"]):
    def undescribed(self) -> Self:
        """Transitions that no model has put into words."""
        return self.filter(next_state="")

    def told_before(self, rules: int) -> Self:
        """Transitions that were told by other rules."""
        return self.exclude(told_by=rules)

    def without_vector(self, encoder: str) -> Self:
        return self.exclude(vectors__encoder=encoder)

    def in_order(self) -> Self:
        """Transitions in the order in which they were recorded, which exports and trainings keep."""
        return self.order_by("conversation__position", "conversation_id", "step__turn__index", "step__index", "id")


class Transition(models.Model):
    """A page, an action and what became of the page: at a recorded step of the train split, or of an agent's own
    episode.

    `effects` tell the difference relative to the action (`agents.world_model.effects`). The pages are those of the
    step. The same action on the same page is kept once.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="transitions")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="transitions")
    step = models.ForeignKey(
        Step, models.CASCADE, null=True, blank=True, related_name="transitions", help_text="The recorded step."
    )
    episode_step = models.ForeignKey(
        TrajectoryStep,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="transitions",
        help_text="Or what an agent did.",
    )
    split = models.CharField(max_length=20, choices=Split.choices, default=Split.TRAIN)
    sha256 = models.CharField(max_length=64, help_text="Of the page as an accessibility tree and the action.")
    key_text = models.TextField(help_text="Operation, element and value; website; instruction: it is found by them.")
    website = models.CharField(max_length=200, blank=True)
    operation = models.CharField(max_length=12, choices=Operation.choices)
    role = models.CharField(max_length=60, blank=True)
    name = models.TextField(blank=True, help_text="Of the element that was acted on.")
    value = models.TextField(blank=True)
    effects = models.JSONField(default=list, blank=True, help_text="What became different; empty: nothing.")
    told_by = models.PositiveSmallIntegerField(
        default=1, help_text="The rules by which that is told (`agents.world_model.effects.RULES`)."
    )
    across_turns = models.BooleanField(
        default=False,
        help_text="The page after is the first of the next turn, on the assumption that nothing happened in between.",
    )
    refined = models.TextField(blank=True, help_text="The key changes, as a model listed them.")
    rationale = models.TextField(blank=True)
    next_state = models.TextField(blank=True, help_text="The expected effect, as a model described it.")
    model_name = models.CharField(max_length=200, blank=True, help_text="Empty: nobody has described it.")
    prompts = models.CharField(max_length=100, default=PACKAGED, help_text="The prompt pack whose words asked for it.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TransitionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "sha256"], name="transition_once"),
            models.UniqueConstraint(fields=["step"], name="transition_once_per_step"),
            models.UniqueConstraint(fields=["episode_step"], name="transition_once_per_episode_step"),
            models.CheckConstraint(condition=Q(step=None) ^ Q(episode_step=None), name="transition_of_step_or_episode"),
            # What actions led to on test pages would tell their gold actions.
            models.CheckConstraint(condition=Q(split="train") | Q(step=None), name="transition_from_train_only"),
            models.CheckConstraint(condition=Q(operation__in=Operation.values), name="transition_operation_known"),
        ]
        indexes = [models.Index(fields=["dataset", "operation", "role"])]

    def __str__(self) -> str:
        return self.key_text.partition("\n")[0][:80]

    def tell_as(self, other: "Transition", rules: int) -> None:
        """Take over what another row tells of the same action by the rules of today; its vectors go where it is found
        by other words."""
        if self.key_text != other.key_text:
            self.vectors.all().delete()
        for name in TOLD:
            setattr(self, name, getattr(other, name))
        self.told_by = rules
        self.save(update_fields=[*TOLD, "told_by"])

    def describe(self, refined: str, rationale: str, next_state: str, model_name: str, prompts: str) -> None:
        """Store what a model wrote about the difference between the pages."""
        self.refined, self.rationale, self.next_state = refined, rationale, next_state
        self.model_name, self.prompts = model_name, prompts
        self.save(update_fields=["refined", "rationale", "next_state", "model_name", "prompts"])


class TransitionVectorQuerySet(NearestQuerySet["TransitionVector"]):
    INDEX = NearestIndex("transition_hnsw", CosineDistance, "halfvec_cosine_ops", m=24, ef_construction=400)

    def put(self, encoder: str, vectors: Sequence[tuple[Transition, np.ndarray]]) -> None:
        """Store the vectors of some transitions; vectors that are there stay."""
        if vectors:
            self.open_for(encoder, len(vectors[0][1]))
        self.bulk_create(
            (TransitionVector(transition=row, encoder=encoder, embedding=vector) for row, vector in vectors),
            ignore_conflicts=True,
        )


class TransitionVector(models.Model):
    """The key text of a transition, embedded by one encoder."""

    distance: float  # cosine distance to what was asked, where the nearest were looked for

    transition = models.ForeignKey(Transition, models.CASCADE, related_name="vectors")
    encoder = models.CharField(max_length=200)
    embedding = HalfVectorField(help_text="Of as many dimensions as its encoder has.")

    objects = TransitionVectorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["transition", "encoder"], name="transition_vector_once")]

    def __str__(self) -> str:
        return f"{self.transition} by {self.encoder}"


class WorldModelFit(models.Model):
    """What was fitted on the transitions of a dataset by one encoder: how sure retrieval may be, and the weights of the
    embedded value function. `transitions`: how many there were then."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="world_model_fits")
    encoder = models.CharField(max_length=200)
    transitions = models.PositiveIntegerField()
    calibration = models.JSONField(default=dict, help_text="Raw confidences and the shares that were right.")
    value = models.JSONField(default=dict, blank=True, help_text="Weights of the embedded value function.")
    measured = models.JSONField(default=dict, help_text="On the cases that it was fitted on.")
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "encoder"], name="world_model_fit_once")]

    def __str__(self) -> str:
        return f"{self.dataset} by {self.encoder}"

    def held_out(self) -> list[tuple[str, dict[str, Any] | None]]:
        """(what was held out, how good the confidence was there); None where it could not be held out."""
        told = self.measured.get("held_out", {})
        return [("each conversation", told.get("known")), ("each website, as if never seen", told.get("elsewhere"))]
