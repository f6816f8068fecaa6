"""Tokens and money. Core."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """Tokens and money of one request. `cached`: answered before, so it cost nothing now."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0  # in the currency of the prices
    cached: bool = False
    estimated: bool = False  # at least one number is our estimate, as the endpoint gave none

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
            self.cached and other.cached,
            self.estimated or other.estimated,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


HIGHEST_PRICE = 1e6  # no model costs a unit of money for each token; more is a slip of the keyboard


@dataclass(frozen=True)
class Prices:
    """Money per million tokens."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(price) and 0 <= price <= HIGHEST_PRICE for price in (self.prompt, self.completion)):
            said = f"a price must lie in 0 to {HIGHEST_PRICE:,.0f}"
            raise ValueError(f"{said}, got {self.prompt:g} and {self.completion:g}")

    def text(self) -> str:
        """ "1 and 2 for a million tokens read and written"."""
        return f"{self.prompt:g} and {self.completion:g} for a million tokens read and written"

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
