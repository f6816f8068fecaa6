"""The out-of-domain score of WebLINX: the unweighted mean of its four splits (dmr_wma.md A2)."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Protocol, TypeVar

from evaluation.metrics.outcomes import Metric

OOD = "ood"  # stands where the name of a split does
OOD_SPLITS = ("test_web", "test_cat", "test_geo", "test_vis")
T = TypeVar("T")


class Estimate(Protocol):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int
    grouping: str


def ood_mean(metric: str, estimates: Sequence[Estimate]) -> Metric:
    """The mean of the splits' values. The splits share no conversation, so their intervals combine as those of
    independent estimates do: the square root of summed squares on either side (MOVER; Zou and Donner 2008)."""
    count = len(estimates)
    value = sum(estimate.value for estimate in estimates) / count
    low = value - hypot(*(estimate.value - estimate.low for estimate in estimates)) / count
    high = value + hypot(*(estimate.high - estimate.value for estimate in estimates)) / count
    return Metric(metric, value, low, high, sum(estimate.n for estimate in estimates), estimates[0].grouping)


def of_all_splits(by_split: Mapping[str, T]) -> list[T] | None:
    """What belongs to the four splits, in order; None where one is missing."""
    return [by_split[split] for split in OOD_SPLITS] if by_split.keys() >= set(OOD_SPLITS) else None
