"""What verifiers decided about annotations."""

from collections.abc import Iterable
from typing import Any, Self

from django.db import models
from django.db.models import Count, F, Q

from annotations.models.accounts.projects import User
from annotations.models.corpus.conversations import Step
from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import Campaign, Guideline, tracked

REPEATED = 3  # verdicts with the same defect before it is called a habit


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def told_to(self, verification: Assignment) -> Self:
        """Verdicts on its subject that this verifier may read: their own, and others' once all have judged that
        round."""
        subject = verification.judged
        over = Q(round__lt=subject.round) | Q(verification=verification)
        if verification.state == Assignment.State.SUBMITTED:
            over |= Q(round=F("assignment__round"))
        rows = self.filter(over, assignment=subject).select_related("verification__user")
        return rows.prefetch_related("defects").order_by("-id")

    def of_ended_rounds(self) -> Self:
        """Verdicts of rounds that are over: nobody judges the same version any more."""
        return self.filter(_is_over())

    def open_to(self, user: User) -> Self:
        """Verdicts of rounds that are over, and this user's own: while somebody may still judge a round, nobody reads
        what others have said in it."""
        return self.filter(_is_over() | Q(verification__user_id=user.pk))


def _is_over() -> Q:
    return Q(round__lt=F("assignment__round")) | ~Q(verification__item__state="open")


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
    bulk = models.ForeignKey(
        "BulkAccept",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="accepted",
        help_text="With what it was accepted at once, by its checks alone.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VerdictQuerySet.as_manager()

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

    def facts(self, defects: "Iterable[Defect]") -> dict[str, Any]:
        """What the author is told of the verdict: {"by", "reason", "defects"}, each defect with its question of the
        rubric."""
        questions = {entry["code"]: entry["question"] for entry in self.assignment.item.session.campaign.rubric}
        told = [
            {
                "id": one.pk,
                "code": one.code,
                "question": questions.get(one.code, ""),
                "note": one.note,
                "step": one.step_id,
                "answers": one.answered(),
            }
            for one in defects
        ]
        return {"by": self.verification.user, "reason": self.reason, "defects": told}


class DefectQuerySet(models.QuerySet["Defect"]):
    def repeated(self, campaign: Campaign, author: User) -> dict[str, int]:
        """Codes of defects that at least three verdicts on this person's work name, each with the number of verdicts,
        most first."""
        of_author = self.filter(verdict__assignment__user=author, verdict__assignment__item__session__campaign=campaign)
        rows = of_author.values("code").annotate(n=Count("verdict", distinct=True)).order_by("-n", "code")
        return {row["code"]: row["n"] for row in rows if row["n"] >= REPEATED}


@tracked
class Defect(models.Model):
    """One thing that is wrong, by a code of the rubric, with its place where it has one."""

    verdict = models.ForeignKey(Verdict, models.CASCADE, related_name="defects")
    code = models.CharField(max_length=40)
    step = models.ForeignKey(Step, models.SET_NULL, null=True, blank=True, related_name="+")
    note = models.TextField(blank=True)

    objects = DefectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.code

    def answered(self) -> list[models.Model]:
        """The comments by which writers said why it is right as it is, oldest first."""
        return [one for one in self.answers.select_related("author") if one.deleted_at is None]
