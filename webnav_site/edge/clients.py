"""Counts what each client has open. All counting is done in the event loop, so that no count is ever half changed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class TooMuch(Exception):
    """One client, or all of them together, would have more open than is allowed."""


class Clients:
    """Counts by client and kind ("connections", "bodies", "bytes", …); nothing is kept of clients that have left."""

    def __init__(self) -> None:
        self._held: Counter[tuple[str, str]] = Counter()

    def held(self, client: str, kind: str) -> int:
        return self._held[client, kind]

    def take(self, client: str, kind: str, amount: int, most: int) -> bool:
        """Count `amount` more, and return True; False, with nothing counted, if that makes more than `most`. Undone by
        `give_back`."""
        if self._held[client, kind] + amount > most:
            return False
        self._held[client, kind] += amount
        return True

    def give_back(self, client: str, kind: str, amount: int = 1) -> None:
        self._held[client, kind] -= amount
        if self._held[client, kind] <= 0:
            del self._held[client, kind]

    @contextmanager
    def holding(self, client: str, kind: str, amount: int, most: int) -> Iterator[None]:
        """Count `amount` more for as long as the block runs. Raises TooMuch."""
        if not self.take(client, kind, amount, most):
            raise TooMuch(kind)
        try:
            yield
        finally:
            self.give_back(client, kind, amount)


class Turns:
    """Has at most so many requests of a client worked on at the same time. Its further ones wait in a line of its own,
    where nobody else waits behind them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lines: dict[str, asyncio.Semaphore] = {}
        self._standing: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """The block runs when it is its turn."""
        self._standing[client] += 1
        try:
            async with self._lines.setdefault(client, asyncio.Semaphore(self.most)):
                yield
        finally:
            self._standing[client] -= 1
            if not self._standing[client]:
                del self._standing[client], self._lines[client]


ALL = "all"  # in place of a client: everybody together
CLIENTS = Clients()  # of this process
