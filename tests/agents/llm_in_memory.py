"""A budget and a store of replies in memory, as one process needs them: the product keeps both in rows."""

import threading

from agents.llm.protocol import Reply, Request
from agents.types import SpendLimits, Spent


class MemoryBudget:
    """A budget of one process."""

    def __init__(self, limits: SpendLimits, spent: Spent | None = None) -> None:
        self._limits = limits
        self._spent = spent or Spent()
        self._lock = threading.Lock()

    def limits(self) -> SpendLimits:
        return self._limits

    def change(self, limits: SpendLimits) -> None:
        self._limits = limits

    def spent(self) -> Spent:
        return self._spent

    def book(self, amount: Spent) -> bool:
        with self._lock:
            allowed = self._limits.exceeded(self._spent + amount) is None
            if allowed:
                self._spent += amount
            return allowed

    def add(self, amount: Spent) -> None:
        with self._lock:
            self._spent += amount


class DictStore:
    """Replies in memory, for one process."""

    def __init__(self) -> None:
        self._replies: dict[str, Reply] = {}

    def get_many(self, keys: list[str]) -> dict[str, Reply]:
        return {key: self._replies[key] for key in keys if key in self._replies}

    def put_many(self, entries: list[tuple[str, Request, Reply]]) -> None:
        for key, _, reply in entries:
            self._replies.setdefault(key, reply)
