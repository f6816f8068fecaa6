"""What an agent did in one conversation, and what it decided at each step."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from agents.models.runs import Run, RunTally
from annotations.models import Conversation, Operation, Step
from annotations.models.tallies import difference_triggers


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
