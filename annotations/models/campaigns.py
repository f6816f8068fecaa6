"""Annotation work: campaigns with their guidelines, the conversations organised in them, and who works on what."""

import math

import pghistory
import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotations.models.conversations import Conversation, Split, Step
from annotations.models.datasets import Dataset, Website
from annotations.models.projects import Project

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


def tracked(model: type[models.Model]) -> type[models.Model]:
    """Triggers that record every change of the model's rows, with who made it and on which page."""
    return pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())(model)


class Kept(models.QuerySet):
    """Rows that may be put into the bin: deleted softly, restored within 30 days."""

    def live(self) -> "Kept":
        return self.filter(deleted_at=None)

    def deleted(self) -> "Kept":
        return self.exclude(deleted_at=None)


class Stage(models.TextChoices):
    """Stages of work on one session, in order; organising makes the sessions."""

    DECOMPOSE = "decompose", "decompose"
    REWRITE = "rewrite", "rewrite"
    VERIFY = "verify", "verify"


@tracked
class Campaign(models.Model):
    """One round of annotation of a dataset: its rules, and where the verified conversations go."""

    class Mode(models.TextChoices):
        OPEN = "open", "open pool: whoever asks gets the next item"
        ASSIGNED = "assigned", "assigned: everyone sees only their own items"

    class Proposer(models.TextChoices):
        NONE = "", "no proposals"
        EMBEDDED = "embedded", "the embedded model"
        ENDPOINT = "endpoint", "the configured LLM endpoint"

    project = models.ForeignKey(Project, models.CASCADE, related_name="campaigns")
    name = models.CharField(max_length=200)
    source = models.ForeignKey(
        Dataset, models.PROTECT, related_name="campaigns", help_text="Where the tasks come from."
    )
    target = models.ForeignKey(
        Dataset,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="filled_by",
        help_text="Gets the verified conversations; made when the first one passes.",
    )
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.OPEN)
    overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people decompose and rewrite an item.")
    verify_overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people verify it.")
    cap = models.PositiveIntegerField(default=0, help_text="The most items that one person gets per stage; 0: no cap.")
    steps_per_part = models.PositiveSmallIntegerField(default=4, help_text="n steps aim at ⌈n / this⌉ parts.")
    blind = models.BooleanField(default=True, help_text="Annotators of one item do not see each other's work.")
    proposer = models.CharField(max_length=10, choices=Proposer.choices, default=Proposer.EMBEDDED, blank=True)
    rubric = models.JSONField(default=list, help_text="Questions of the checklist: [{code, stage, question}].")
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = Kept.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="campaign_name_once_per_project"),
            models.CheckConstraint(
                condition=Q(overlap__gte=1, verify_overlap__gte=1, steps_per_part__gte=1), name="campaign_counts"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def target_parts(self, steps: int) -> int:
        """How many parts `steps` steps should become."""
        return max(1, math.ceil(steps / self.steps_per_part))


@tracked
class Guideline(models.Model):
    """One version of a campaign's guidelines; never changed, only followed by the next version."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown.")
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"guidelines v{self.version} of {self.campaign}"


@tracked
class Session(models.Model):
    """A conversation in the making: source tasks in the order in which one user would have asked for them."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="sessions")
    name = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    website = models.ForeignKey(Website, models.PROTECT, related_name="+")
    split = models.CharField(max_length=20, choices=Split.choices)
    batch = models.CharField(max_length=100, blank=True, db_index=True)
    weight = models.FloatField(default=1.0, help_text="Heavier sessions are handed out first.")
    is_gold = models.BooleanField(default=False, help_text="Its solution is known; annotators are not told.")
    gold = models.JSONField(null=True, blank=True, help_text="The known solution: the parts of an expert.")
    why = models.TextField(blank=True, help_text="What the proposal saw in common.")
    released = models.ForeignKey(
        Conversation,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The conversation in the target dataset, once it has passed.",
    )
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = Kept.as_manager()

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="session_name_once_per_campaign")]

    def __str__(self) -> str:
        return self.name

    def places(self) -> dict[int, int]:
        """Step -> its place, 0, 1, 2 …, in order. One query."""
        return {pk: place for place, pk in enumerate(self.steps().values_list("pk", flat=True))}

    def steps(self) -> models.QuerySet[Step]:
        """All steps of its source tasks, in order."""
        ordered = Step.objects.filter(turn__conversation__sessiontask__session=self)
        return ordered.order_by("turn__conversation__sessiontask__position", "turn__index", "index")


@tracked
class SessionTask(models.Model):
    """A source task in its place. The tasks of a campaign's dataset without one are its leftovers."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, models.CASCADE, related_name="tasks")
    conversation = models.ForeignKey(
        Conversation, models.PROTECT, help_text="The recorded task: a conversation of the source dataset."
    )
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "conversation"], name="task_in_one_session_of_a_campaign"),
            models.UniqueConstraint(
                fields=["session", "position"], name="session_task_position_once", deferrable=models.Deferrable.DEFERRED
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session} {self.position + 1}: {self.conversation}"


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


@tracked
class Verdict(models.Model):
    """What a verifier decided about one version of an annotation."""

    class Outcome(models.TextChoices):
        ACCEPT = "accept", "accepted"
        RETURN = "return", "returned"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="verdicts", help_text="What was judged.")
    verification = models.ForeignKey(Assignment, models.CASCADE, related_name="given", help_text="Whose task it was.")
    round = models.PositiveSmallIntegerField()
    version = models.PositiveIntegerField(help_text="Of the annotation, when it was judged.")
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    reason = models.TextField(blank=True)
    checklist = models.JSONField(default=dict, help_text="Code of the rubric -> true (in order) or false (a defect).")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["verification", "round"], name="one_verdict_per_round"),
            models.CheckConstraint(
                condition=Q(outcome="accept") | ~Q(reason="") | ~Q(checklist={}), name="a_return_has_reasons"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} (round {self.round})"


@tracked
class Defect(models.Model):
    """One thing that is wrong, by a code of the rubric, with its place where it has one."""

    verdict = models.ForeignKey(Verdict, models.CASCADE, related_name="defects")
    code = models.CharField(max_length=40)
    step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.code


DEFAULT_RUBRIC = [
    {"code": "cut-misplaced", "stage": "decompose", "question": "Every cut lies where the user's intent changes."},
    {"code": "uncovered", "stage": "decompose", "question": "Each sub-instruction asks for all of its steps."},
    {"code": "extra", "stage": "decompose", "question": "No sub-instruction asks for more than its steps do."},
    {"code": "unresolvable", "stage": "rewrite", "question": "Every anaphor and ellipsis can be resolved from before."},
    {"code": "value-lost", "stage": "rewrite", "question": "Every value that is typed or chosen can still be known."},
    {"code": "unnatural", "stage": "rewrite", "question": "It reads as somebody would say it."},
]


def next_position(campaign: Campaign) -> int:
    return (campaign.sessions.aggregate(n=models.Max(F("position")))["n"] or 0) + 1
