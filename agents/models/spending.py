"""What model calls of a piece of work may use and have used: a study, or a training."""

from typing import Self, TypedDict, Unpack

from django.db import models
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import CombinedExpression

from agents.types import SpendLimits, Spent


class BudgetLimits(TypedDict, total=False):
    """What the model calls of a study or a training may use; None or left out: no limit."""

    tokens: int | None
    cost: float | None
    seconds: int | None


class Spending(models.Model):
    """A row that is an `agents.llm.budget.Budget`, which all workers share: it is read and written as it is now."""

    # Hard limits on what its model calls may use; empty: no limit. Reaching one stops the work cleanly.
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    budget_cost = models.FloatField(null=True, blank=True)
    budget_seconds = models.PositiveIntegerField(null=True, blank=True)
    # What its model calls have used, with what is booked for those under way.
    spent_tokens = models.BigIntegerField(default=0)
    spent_cost = models.FloatField(default=0.0)
    spent_seconds = models.FloatField(default=0.0)

    class Meta:
        abstract = True

    @staticmethod
    def budget_fields(**limits: Unpack[BudgetLimits]) -> dict[str, float | None]:
        """The limits as columns. ValueError for a negative one."""
        checked = SpendLimits(**limits)
        return {"budget_tokens": checked.tokens, "budget_cost": checked.cost, "budget_seconds": checked.seconds}

    def set_budget(self, **limits: Unpack[BudgetLimits]) -> None:
        """Replace the limits. What stopped at its budget is resumed by hand."""
        self._row().update(**self.budget_fields(**limits))

    def limits(self) -> SpendLimits:
        return SpendLimits(*self._row().values_list("budget_tokens", "budget_cost", "budget_seconds").get())

    def spent(self) -> Spent:
        return Spent(*self._row().values_list("spent_tokens", "spent_cost", "spent_seconds").get())

    def book(self, amount: Spent) -> bool:
        """Add an amount to what is spent, if the limits allow it; whether they do. One statement, so that workers
        cannot overshoot together."""
        after = _with(amount)
        allowed = self._row().filter(
            Q(budget_tokens=None) | Q(budget_tokens__gte=after["spent_tokens"]),
            Q(budget_cost=None) | Q(budget_cost__gte=after["spent_cost"]),
            Q(budget_seconds=None) | Q(budget_seconds__gt=after["spent_seconds"]),
        )
        return bool(allowed.update(**after))

    def add(self, amount: Spent) -> None:
        self._row().update(**_with(amount))

    def _row(self) -> QuerySet[Self]:
        return type(self)._default_manager.filter(pk=self.pk)


def _with(amount: Spent) -> dict[str, CombinedExpression]:
    """What would be spent with this amount, as columns."""
    return {
        "spent_tokens": F("spent_tokens") + amount.tokens,
        "spent_cost": F("spent_cost") + amount.cost,
        "spent_seconds": F("spent_seconds") + amount.seconds,
    }
