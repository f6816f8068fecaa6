"""Who works on what: items of work, the people that have them, and the parts that they make."""

import pghistory
import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotations.models.campaigns import Guideline, Stage, tracked
from annotations.models.conversations import Step
from annotations.models.sessions import Session

USER = settings.AUTH_USER_MODEL
OWN_STEP_SQL = """
IF NOT EXISTS (
    SELECT 1 FROM annotations_assignment assignment
    JOIN annotations_item item ON item.id = assignment.item_id
    JOIN annotations_sessiontask task ON task.session_id = item.session_id
    JOIN annotations_turn turn ON turn.conversation_id = task.conversation_id
    JOIN annotations_step step ON step.turn_id = turn.id
    WHERE assignment.id = NEW.assignment_id AND step.id = NEW.first_step_id
) THEN
    RAISE EXCEPTION 'a part begins at a step of its own session' USING ERRCODE = 'check_violation';
END IF;
RETURN NEW;
"""


class Item(models.Model):
    """A piece of work: one stage of one session; verification has one for every rewrite that was submitted."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        DONE = "done", "done"

    session = models.ForeignKey(Session, models.CASCADE, related_name="items")
    stage = models.CharField(max_length=10, choices=Stage.choices)
    subject = models.ForeignKey(
        "Assignment",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="verified_as",
        help_text="Verification only: the annotation that is judged.",
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN, db_index=True)
    overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people do it.")
    opened_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session__position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "stage", "subject"], name="one_item_per_stage", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(stage="verify", subject__isnull=False) | (~Q(stage="verify") & Q(subject__isnull=True)),
                name="verification_has_a_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.session}"


class AssignmentQuerySet(models.QuerySet):
    def active(self) -> "AssignmentQuerySet":
        """Those that hold a slot of their item."""
        return self.exclude(state=Assignment.State.RELEASED)

    def leased(self) -> "AssignmentQuerySet":
        """Those somebody is at work on right now."""
        return self.filter(lease_until__gt=timezone.now())


# Not its heartbeats and versions, which change with every breath and every edit.
@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(condition=pghistory.AnyChange("state", "review", "round", "user", "slot")),
    pghistory.DeleteEvent(),
)
class Assignment(models.Model):
    """An item given to a person: their lease on it, and the annotation that they make (its parts and edits).

    State says where the annotator stands, `review` where the verifiers do: two words for two roles.
    """

    class State(models.TextChoices):
        ASSIGNED = "assigned", "to do"
        IN_PROGRESS = "in_progress", "in progress"
        SUBMITTED = "submitted", "submitted"
        RELEASED = "released", "given back"

    UNFINISHED = (State.ASSIGNED, State.IN_PROGRESS)  # somebody has it and may still write

    class Review(models.TextChoices):
        NONE = "", "not reviewed"
        RETURNED = "returned", "returned"
        PASSED = "passed", "passed"

    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField(help_text="0 … overlap - 1: one person each.")
    user = models.ForeignKey(USER, models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=12, choices=State.choices, default=State.ASSIGNED, db_index=True)
    review = models.CharField(max_length=10, choices=Review.choices, default=Review.NONE, blank=True, db_index=True)
    round = models.PositiveSmallIntegerField(default=1, help_text="1, and one more for each time that it was returned.")
    version = models.PositiveIntegerField(default=0, help_text="The number of its last edit.")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, blank=True, related_name="+")
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.PositiveIntegerField(default=0, help_text="Time at work, from heartbeats.")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "slot"], condition=~Q(state="released"), name="one_person_per_slot"
            ),
            models.UniqueConstraint(
                fields=["item", "user"], condition=~Q(state="released"), name="nobody_gets_an_item_twice"
            ),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(lease_token__isnull=False), name="a_lease_has_a_token"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} by {self.user}"


@tracked
class Part(models.Model):
    """A sub-instruction and its steps: from its first step up to the next part's. Stored as a cut, so parts cover all
    steps, in order, without overlap. The first part of a session begins at its first step."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="parts")
    first_step = models.ForeignKey(Step, models.PROTECT, related_name="+")
    instruction = models.TextField(blank=True, help_text="What this part asks for, standing alone.")
    rewrite = models.TextField(blank=True, help_text="As said in the conversation.")
    mentions = models.JSONField(
        default=list,
        blank=True,
        help_text="Anaphora and ellipsis: [{id, phenomenon, start, end, antecedent: {step, start, end} or null}]; "
        "places count characters of the rewrites, `step` names a part by its first step.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "first_step"], name="one_cut_per_step")]
        triggers = [
            pgtrigger.Trigger(
                name="step_of_own_session",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=OWN_STEP_SQL,
            )
        ]

    def __str__(self) -> str:
        return self.rewrite or self.instruction or f"from step {self.first_step_id}"
