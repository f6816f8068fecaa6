"""Verifiers who differ about one version, and the further person who decides between them."""

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotations.models.accounts.projects import Account
from annotations.models.choices import MAX_REASON, as_reason
from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import tracked
from annotations.models.work.queue import VerdictRefused
from annotations.models.work.verdicts import Verdict


class DisputeQuerySet(models.QuerySet["Dispute"]):
    def live(self) -> Self:
        session = "assignment__item__session"
        return self.filter(**{f"{session}__deleted_at": None, f"{session}__campaign__deleted_at": None})

    def open(self) -> Self:
        return self.filter(decided_at=None, curation=None)

    def closed(self) -> Self:
        """Disputes that are decided, the last first, and those that somebody's making one of two versions ended."""
        return self.exclude(decided_at=None, curation=None).order_by(F("decided_at").desc(nulls_last=True), "-pk")

    def for_deciding(self, user: Account) -> Self:
        """Open disputes in which this person has no part, neither as author nor as verifier, so that they may decide
        them."""
        judged = Verdict.objects.filter(
            assignment=OuterRef("assignment"), round=OuterRef("round"), verification__user_id=user.pk
        )
        return self.open().exclude(assignment__user_id=user.pk).exclude(Exists(judged))

    def with_people(self) -> Self:
        people = ("assignment__user", "decided_by", "curation__user")
        return self.select_related(*people, "assignment__item__session__campaign__project")


@tracked
class Dispute(models.Model):
    """A round in which one verifier accepted what another returned. It waits until a further person decides."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="disputes", help_text="What was judged.")
    round = models.PositiveSmallIntegerField()
    opened_at = models.DateTimeField(auto_now_add=True)
    outcome = models.CharField(max_length=8, choices=Verdict.Outcome.choices, blank=True)
    reason = models.TextField(blank=True, max_length=MAX_REASON)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    curation = models.ForeignKey(
        "Curation",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="disputes",
        help_text="What made one of this version and another, so that nothing is left to be decided.",
    )

    objects = DisputeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "round"], name="one_dispute_per_round"),
            models.CheckConstraint(
                condition=Q(outcome="", decided_at=None) | (~Q(outcome="") & Q(decided_by__isnull=False)),
                name="a_decided_dispute_says_by_whom",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment}, round {self.round}"

    @property
    def verdicts(self) -> models.QuerySet[Verdict, Any]:
        """The verdicts that differ, acceptances first."""
        rows = self.assignment.verdicts.filter(round=self.round).select_related("verification__user")
        return rows.prefetch_related("defects").order_by("outcome", "pk")

    def why_not_decided_by(self, user: Account) -> str:
        """Why this person cannot decide the dispute; "" when they can."""
        if self.decided_at is not None:
            return f"{self.decided_by} has decided it."
        if self.curation is not None:
            return f"{self.curation.user} has made one of this version and another."
        if self.assignment.user_id == user.pk:
            return "It is about your own work: somebody else decides it."
        if self.verdicts.filter(verification__user_id=user.pk).exists():
            return "You have judged it: somebody else decides between you."
        return ""

    def decide(self, user: Account, outcome: str, reason: str) -> None:
        """Decide which verdict stands, of a locked dispute. VerdictRefused for whoever has a part in it, once it is
        decided, and for a reason that is too long."""
        if why_not := self.why_not_decided_by(user):
            raise VerdictRefused(why_not)
        self.outcome, self.reason = Verdict.Outcome(outcome), as_reason(reason, VerdictRefused)
        self.decided_by_id, self.decided_at = user.pk, timezone.now()
        self.save()

    def facts(self) -> dict[str, Any]:
        """The decision as its author is told of it, in the form of a verdict's facts."""
        return {"by": self.decided_by, "reason": self.reason, "defects": []}
