"""The limit on what one job that asks a language model may cost."""

from collections.abc import Callable

from agents.types import SpendLimits, Spent


class AskingBudget:
    """An `agents.llm.budget.Budget` of one job, which one process works on at a time: what is booked is told to `keep`
    before the request is sent, so that a worker that is killed leaves it counted."""

    def __init__(
        self, cost: float | None, spent: float = 0.0, keep: Callable[[float], object] = lambda cost: None
    ) -> None:
        self._limits, self._spent, self._keep = SpendLimits(cost=cost), Spent(cost=spent), keep

    def limits(self) -> SpendLimits:
        return self._limits

    def spent(self) -> Spent:
        return self._spent

    def book(self, amount: Spent) -> bool:
        if self._limits.exceeded(self._spent + amount):
            return False
        self.add(amount)
        return True

    def add(self, amount: Spent) -> None:
        self._spent += amount
        self._keep(self._spent.cost)
