"""Hard limits on what the model calls of a study use, shared by all its workers through the database."""

from django.db import connection
from django.db.models import F

from agents.llm.budget import BudgetedLlm, SpendLimits, Spent
from agents.llm.cache import CachedLlm
from agents.llm.protocol import Llm
from agents.llm.stored import DatabaseStore
from agents.models import Run
from agents.recipes import literature
from evaluation.models import Study

BOOK_SQL = """
UPDATE evaluation_study
SET spent_tokens = spent_tokens + %(tokens)s, spent_cost = spent_cost + %(cost)s,
    spent_seconds = spent_seconds + %(seconds)s
WHERE id = %(id)s
  AND (budget_tokens IS NULL OR spent_tokens + %(tokens)s <= budget_tokens)
  AND (budget_cost IS NULL OR spent_cost + %(cost)s <= budget_cost)
  AND (budget_seconds IS NULL OR spent_seconds + %(seconds)s < budget_seconds)
"""


class StudyBudget:
    """`agents.llm.budget.Budget` over the row of a study."""

    def __init__(self, study_id: int) -> None:
        self.study_id = study_id

    def limits(self) -> SpendLimits:
        names = ("budget_tokens", "budget_cost", "budget_seconds")
        return SpendLimits(*Study.objects.values_list(*names).get(pk=self.study_id))

    def spent(self) -> Spent:
        names = ("spent_tokens", "spent_cost", "spent_seconds")
        return Spent(*Study.objects.values_list(*names).get(pk=self.study_id))

    def book(self, amount: Spent) -> bool:
        """Add an amount if the limits allow it: one statement, so workers cannot overshoot together."""
        values = {"id": self.study_id, "tokens": amount.tokens, "cost": amount.cost, "seconds": amount.seconds}
        with connection.cursor() as cursor:
            cursor.execute(BOOK_SQL, values)
            return cursor.rowcount == 1

    def add(self, amount: Spent) -> None:
        Study.objects.filter(pk=self.study_id).update(
            spent_tokens=F("spent_tokens") + amount.tokens,
            spent_cost=F("spent_cost") + amount.cost,
            spent_seconds=F("spent_seconds") + amount.seconds,
        )


def llm_of(run: Run) -> Llm | None:
    """What answers the prompts of a run: the configured endpoint within the budget of its study, behind the cache of
    replies. None for recipes that ask no endpoint. Raises NotConfigured where settings are missing."""
    if not literature.asks_endpoint(literature.from_dict(run.recipe)):
        return None
    from agents.llm.chat import from_environment  # takes most of a second, which only workers need to spend

    llm: Llm = from_environment()
    study = run.studies.order_by("pk").first()
    if study is not None:
        advice = f"Raise the budget of study {study.pk} and resume it; what was answered is kept."
        llm = BudgetedLlm(llm, StudyBudget(study.pk), advice)
    return CachedLlm(llm, DatabaseStore())
