"""Items accepted at once because every check of them was green, and those that a person looks at all the same."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotations.models.work.campaigns import Campaign, tracked
from annotations.models.work.disputes import Dispute
from annotations.models.work.items import Item
from annotations.models.work.verdicts import Verdict

USER = settings.AUTH_USER_MODEL


@tracked
class BulkAccept(models.Model):
    """An act of accepting many items at once. Some of them, drawn at random, are held back for a second look: what
    verifiers find in those tells how much the rest let through."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="bulk_accepts")
    user = models.ForeignKey(USER, models.PROTECT, related_name="+")
    size = models.PositiveIntegerField(help_text="Items that were chosen, those held back included.")
    share = models.PositiveSmallIntegerField(help_text="Percent of them that was to be held back.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.size} items by {self.user}"

    def hold_back(self, items: list[Item]) -> None:
        HeldBack.objects.bulk_create(HeldBack(bulk=self, item=item) for item in items)


class HeldBackQuerySet(models.QuerySet["HeldBack"]):
    def with_outcome(self) -> Self:
        """Annotate `outcome`: the verdict on the item in its first round, in which it was held back, or who decided
        between verifiers; empty until that round is over."""
        said = Verdict.objects.of_ended_rounds().filter(verification__item=OuterRef("item"), round=1, bulk=None)
        disputes = Dispute.objects.filter(assignment__verified_as=OuterRef("item"), round=1)
        told = Subquery(said.values("outcome")[:1])
        return self.annotate(outcome=Coalesce(Subquery(disputes.values("outcome")[:1]), told))

    def of(self, campaign: Campaign) -> Self:
        return self.filter(bulk__campaign=campaign).select_related("bulk", "item__session", "item__subject__user")


@tracked
class HeldBack(models.Model):
    """An item that was held back from a bulk accept: somebody verifies it as usual."""

    outcome: str | None  # where it is asked for

    bulk = models.ForeignKey(BulkAccept, models.CASCADE, related_name="held_back")
    item = models.OneToOneField(Item, models.CASCADE, related_name="held_back")

    objects = HeldBackQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.item}, held back"
