"""Tells, by intervals alone, which estimates differ beyond chance."""

from collections.abc import Sequence
from math import hypot

from annotations.text.amounts import amount
from evaluation.metrics.ood import IntervalValue

MOST_TIMES = 1000  # as much data


FEW = 10  # conversations; the interval of fewer is too narrow, and may have no width at all


def caution(conversations: int | None, widthless: bool = False, what: str = "conversation") -> str:
    """A warning about an interval drawn from so many conversations; "" where they are enough. `widthless`: all of them
    agree, which makes the value no more certain."""
    if conversations is None or (conversations >= FEW and not widthless):
        return ""
    counted = amount(conversations, what)
    if conversations < FEW:
        return f"{counted} only: too few for an interval to trust"
    return f"an interval without a width says only that these {counted} agree"


def are_apart(better: IntervalValue, worse: IntervalValue) -> bool:
    """Whether `better` is above `worse` beyond chance (95 %), by the interval of their difference (MOVER; Zou and
    Donner 2008). It takes the two as independent: a paired comparison of the same conversations may tell more apart."""
    return better.value - worse.value > _noise(better, worse)


def tied(best_first: Sequence[IntervalValue | None]) -> list[int]:
    """The places of the estimates that do not differ from the first beyond chance, its own among them; [] where it
    stands alone. One of few conversations may be among them though a better one of many is not."""
    first = best_first[0] if best_first else None
    if first is None:
        return []
    found = [place for place, one in enumerate(best_first) if one is not None and not are_apart(first, one)]
    return found if len(found) > 1 else []


def times_as_many(better: IntervalValue, worse: IntervalValue) -> float | None:
    """How many times as much data would be needed to tell the two apart, if they differ as they do here; None where
    they do not differ, or so little that nobody has so much data."""
    difference = better.value - worse.value
    times = (_noise(better, worse) / difference) ** 2 if difference > 0 else MOST_TIMES + 1
    return times if times <= MOST_TIMES else None


def _noise(better: IntervalValue, worse: IntervalValue) -> float:
    return hypot(better.value - better.low, worse.high - worse.value)
