"""Hard limits on tokens, money and time around a model. Core.

Before a request starts, the most it may use is booked; when it ends, the booking is corrected to what it used. So
requests that run at the same time, in this process or another, cannot overshoot a limit together.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Protocol

from agents.llm.deadline import OutOfTime, answered_within
from agents.llm.errors import BudgetExceeded, LlmError, NotConfigured
from agents.llm.protocol import Llm, Reply, Request, estimate
from agents.llm.tokens import counter
from agents.llm.usage import Usage
from agents.types import SpendLimits, Spent

UNPRICED = (
    "a limit on money needs prices per million tokens: give them to the connection, or set LLM_PRICE_PROMPT and "
    "LLM_PRICE_COMPLETION"
)
UNITS = {"tokens": "tokens", "cost": "in money", "seconds": "seconds"}

Running = Future[list[Reply | LlmError]]  # a batch of requests that the model answers


class Budget(Protocol):
    """Limits and a ledger that several workers may share. Limits are read anew each time, so they can be raised.

    Everything is called in the thread that calls `BudgetedLlm.complete`.
    """

    def limits(self) -> SpendLimits: ...

    def spent(self) -> Spent:
        """What all workers have spent, with what is booked for running requests. Bookings of a worker that was killed
        stay."""
        ...

    def book(self, amount: Spent) -> bool:
        """Add an amount if `limits()` allow it, in one indivisible step for all workers; False: nothing was added."""
        ...

    def add(self, amount: Spent) -> None:
        """Add an amount, which may be negative, whatever the limits say."""
        ...


class BudgetedLlm:
    """`llm` within a budget. The first request that does not fit stops the call: it and all later ones get
    BudgetExceeded and are not sent, those that run are waited for and counted. Where a limit on time is reached before
    they end they are given up, and get it too. `advice` says how to raise a limit.

    NotConfigured when there is a limit on money but no prices.
    """

    def __init__(self, llm: Llm, budget: Budget, advice: str = "Raise the limit and go on.") -> None:
        self.info = llm.info
        self._llm = llm
        self._budget = budget
        self._advice = advice
        if self._unpriced():
            raise NotConfigured(UNPRICED)

    def _unpriced(self) -> bool:
        return self._budget.limits().cost is not None and self.info.prices is None

    def complete(self, requests: list[Request]) -> list[Reply | LlmError]:
        if self._unpriced():  # the limit was set after the start
            return [NotConfigured(UNPRICED) for _ in requests]
        answers: dict[int, Reply | LlmError] = {}
        running: dict[Running, dict[int, Spent]] = {}  # bookings by index of the request
        following = 0  # the first request that has not been sent
        pool = ThreadPoolExecutor(self.info.lanes, thread_name_prefix="budget")
        clock = _Clock()
        try:
            while following < len(requests) or running:
                while len(running) < self.info.lanes and following < len(requests):
                    group = self._book(requests, following)
                    if not group:
                        break
                    left = self._left(clock)
                    sent = [requests[i] for i in group]
                    running[pool.submit(copy_context().run, self._within, left, sent)] = group
                    following += len(group)
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    answers |= self._settle(future, running.pop(future), requests, clock)
        finally:  # on an interrupt, too: what runs keeps its booking
            pool.shutdown(wait=False, cancel_futures=True)
        if following < len(requests):
            limits, spent = self._budget.limits(), self._budget.spent()
            answers |= {i: self._refusal(requests[i], limits, spent) for i in range(following, len(requests))}
        return [answers[i] for i in range(len(requests))]

    def _left(self, clock: "_Clock") -> float | None:
        """The seconds that the limit on time leaves; None without one."""
        most = self._budget.limits().seconds
        return None if most is None else most - self._budget.spent().seconds - clock.elapsed

    def _within(self, seconds: float | None, requests: list[Request]) -> list[Reply | LlmError]:
        with answered_within(seconds):
            return self._llm.complete(requests)

    def _book(self, requests: list[Request], first: int) -> dict[int, Spent]:
        """Book the next batch of requests, or as many of them as fit."""
        group: dict[int, Spent] = {}
        for index in range(first, min(first + self.info.batch, len(requests))):
            booking = self._most(requests[index])
            if not self._budget.book(booking):
                break
            group[index] = booking
        return group

    def _settle(
        self, future: Running, group: dict[int, Spent], requests: list[Request], clock: "_Clock"
    ) -> dict[int, Reply | LlmError]:
        answers = future.result()
        used = sum((answer.usage for answer in answers), Usage())
        booked = sum(group.values(), Spent())
        self._budget.add(-booked + Spent(used.tokens, used.cost, clock.lap()))
        given = dict(zip(group, answers, strict=True))
        if any(isinstance(answer, OutOfTime) for answer in answers):
            limits, spent = self._budget.limits(), self._budget.spent()
            late = {
                i: self._refusal(requests[i], limits, spent) for i, one in given.items() if isinstance(one, OutOfTime)
            }
            for index, refusal in late.items():
                refusal.usage = given[index].usage
            given |= late
        return given

    def _most(self, request: Request) -> Spent:
        most = estimate(request, self.info.prices)
        return Spent(most.tokens, most.cost)

    def _refusal(self, request: Request, limits: SpendLimits, spent: Spent) -> BudgetExceeded:
        most = self._most(request)
        name = limits.exceeded(spent) or limits.exceeded(spent + most)
        if name is None:
            return BudgetExceeded(f"An earlier request did not fit into the budget. {self._advice}")
        needs = getattr(most, name)
        counted = f" (prompts counted by {counter(request.model).how})" if name != "seconds" else ""
        more = f", and this request may need up to {_number(needs)} more{counted}" if needs else ""
        return BudgetExceeded(
            f"The budget's limit of {_number(getattr(limits, name))} {UNITS[name]} is reached: "
            f"{_number(getattr(spent, name))} are spent{more}. {self._advice}"
        )


class _Clock:
    """A stopwatch: `lap` gives the seconds since it was last called."""

    def __init__(self) -> None:
        self._mark = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._mark

    def lap(self) -> float:
        now = time.monotonic()
        seconds, self._mark = now - self._mark, now
        return seconds


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}".rstrip("0").rstrip(".")
