"""What the language model that is the user of a run's live conversations has used, counted apart from its agent."""

from collections.abc import Sequence
from typing import Any

from django.db import models

from agents.models.runs import Run
from agents.models.spending import Spending
from agents.types import Spent


class UserLedgerQuerySet(models.QuerySet["UserLedger"]):
    def told_of(self, runs: Sequence[Run]) -> dict[str, Any] | None:
        """The language model that is the user of these runs, all on the same goals, and what it has used in them:
        {connection, words, temperature, pack, max_cost, tokens, cost, seconds}; None where their user is none."""
        chosen = dict(runs[0].dataset.live.get("user") or {}) if runs else {}
        if not chosen:
            return None
        spent = sum((ledger.was_spent for ledger in self.filter(run__in=runs)), Spent())
        del chosen["texts_sha256"]
        return chosen | {"tokens": spent.tokens, "cost": spent.cost, "seconds": spent.seconds}


class UserLedger(Spending):
    """Limits and spending of the user of one run, over all workers."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="user_ledger")

    objects = UserLedgerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"user of run {self.run_id}"

    @property
    def was_spent(self) -> Spent:
        """What had been spent when the row was read."""
        return Spent(self.spent_tokens, self.spent_cost, self.spent_seconds)
