"""What each client has open: counted in the event loop, so that no count is ever half changed."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class TooMuch(Exception):
    """A client, or all of them together, has as much open as may be."""


class Clients:
    """Counts by client and kind ("connections", "bodies", "bytes", …); nothing is kept of clients that have left."""

    def __init__(self) -> None:
        self._held: Counter[tuple[str, str]] = Counter()

    def held(self, client: str, kind: str) -> int:
        return self._held[client, kind]

    def take(self, client: str, kind: str, amount: int, most: int) -> bool:
        """Count `amount` more; False, and nothing counted, if that makes more than `most`. End it by `give_back`."""
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
        """Count it for as long as the block runs. Raises TooMuch."""
        if not self.take(client, kind, amount, most):
            raise TooMuch(kind)
        try:
            yield
        finally:
            self.give_back(client, kind, amount)


ALL = "all"  # in place of a client: everybody together
CLIENTS = Clients()  # of this process
