"""Decompositions that were sent back to their author to have their cuts mended, while a rewrite waits."""

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import Stage, tracked
from annotations.models.work.verdicts import Defect, Verdict


class SentBackQuerySet(models.QuerySet["SentBack"]):
    def unmended(self) -> Self:
        """Decompositions that were sent back and are not mended yet, oldest first."""
        return self.filter(mended_at=None)

    def with_reasons(self) -> Self:
        related = ("verification__user", "assignment__item__session__campaign")
        rows = self.select_related(
            "sender", "rewrite__item__session__campaign", *(f"verdict__{one}" for one in related)
        )
        return rows.prefetch_related("verdict__defects")

    def mend(self) -> list[Assignment]:
        """Note that the cuts are mended; returns the rewrites that waited for them, each once."""
        rows = list(self.unmended().select_related("rewrite"))
        self.unmended().update(mended_at=timezone.now())
        return list({row.rewrite_id: row.rewrite for row in rows}.values())


@tracked
class SentBack(models.Model):
    """A decomposition that a rewriter or a verifier sent back to its author, why, and which rewrite waits for it."""

    decomposition = models.ForeignKey(Assignment, models.CASCADE, related_name="sent_back")
    rewrite = models.ForeignKey(Assignment, models.CASCADE, related_name="waited")
    sender = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    verdict = models.ForeignKey(Verdict, models.CASCADE, null=True, blank=True, related_name="+")
    reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(help_text="Of the decomposition, when it was sent back.")
    created_at = models.DateTimeField(auto_now_add=True)
    mended_at = models.DateTimeField(null=True, blank=True)

    objects = SentBackQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(verdict__isnull=False) | ~models.Q(reason=""), name="sent_back_with_a_reason"
            )
        ]

    def __str__(self) -> str:
        return f"{self.decomposition} from {self.sender}"

    def defects(self) -> list[Defect]:
        """The defects of the verdict that are mended by decomposing; none where a rewriter sent it back."""
        if self.verdict is None:
            return []
        codes = self.rewrite.item.session.campaign.codes_of(Stage.DECOMPOSE)
        return [defect for defect in self.verdict.defects.all() if defect.code in codes]

    def facts(self) -> dict[str, Any]:
        """What the author of the cuts is told: {"by", "reason", "defects"}."""
        if self.verdict is None:
            return {"by": self.sender, "reason": self.reason, "defects": []}
        return self.verdict.facts(self.defects())
