"""How annotations come about: every edit that was made, and what models proposed."""

from django.conf import settings
from django.db import models

from annotations.models.assignments import Assignment
from annotations.models.campaigns import Campaign
from annotations.models.conversations import Step
from annotations.models.sessions import Session

USER = settings.AUTH_USER_MODEL


class Edit(models.Model):
    """One change of an annotation, as the browser made it: what autosave, undo, merging and history are made of."""

    class Kind(models.TextChoices):
        CUT = "cut", "cut before a step"
        JOIN = "join", "join with the part before"
        TEXT = "text", "change a text"
        MENTIONS = "mentions", "mark mentions"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="edits")
    version = models.PositiveIntegerField(help_text="1, 2, 3 … within the annotation.")
    op_id = models.UUIDField(help_text="Chosen by the browser: an edit sent twice is made once.")
    user = models.ForeignKey(USER, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    step = models.ForeignKey(Step, models.PROTECT, related_name="+", help_text="First step of the part.")
    field = models.CharField(max_length=20, blank=True, help_text="instruction or rewrite, for texts.")
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    undoes = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="undone_by")
    proposal = models.ForeignKey("Proposal", models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "version"], name="edit_version_once"),
            models.UniqueConstraint(fields=["assignment", "op_id"], name="edit_once"),
        ]

    def __str__(self) -> str:
        return f"{self.version}: {self.kind} {self.field}".strip()


class Proposal(models.Model):
    """What a model suggested, and what became of it."""

    class Kind(models.TextChoices):
        SESSIONS = "sessions", "sessions"
        CUTS = "cuts", "cuts"
        REWRITE = "rewrite", "rewrite"

    class Outcome(models.TextChoices):
        OPEN = "", "not decided"
        UNCHANGED = "unchanged", "accepted unchanged"
        EDITED = "edited", "accepted, then edited"
        REJECTED = "rejected", "rejected"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="proposals")
    session = models.ForeignKey(Session, models.CASCADE, null=True, blank=True, related_name="proposals")
    assignment = models.ForeignKey(Assignment, models.CASCADE, null=True, blank=True, related_name="proposals")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    model_name = models.CharField(max_length=200)
    content = models.JSONField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN, blank=True)
    distance = models.FloatField(null=True, blank=True, help_text="Edit distance of the result to it, 0 … 1.")
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.model_name}"
