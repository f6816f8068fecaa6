"""What verifiers decided about annotations."""

from django.db import models
from django.db.models import Q

from annotations.models.assignments import Assignment
from annotations.models.campaigns import Guideline, tracked
from annotations.models.conversations import Step


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
