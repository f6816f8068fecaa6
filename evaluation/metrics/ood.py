"""The out-of-domain score of WebLINX: the unweighted mean of its four splits (sources.md A2)."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Protocol

from evaluation.metrics.outcomes import Metric

OOD = "ood"  # stands where the name of a split does
OOD_SPLITS = ("test_web", "test_cat", "test_geo", "test_vis")


class IntervalValue(Protocol):
    """A value with its 95 % interval."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def grouping(self) -> str: ...


def ood_mean(metric: str, estimates: Sequence[IntervalValue]) -> Metric:
    """The mean of the splits' values. The splits share no conversation, so their intervals combine as those of
    independent estimates do: the square root of summed squares on either side (MOVER; Zou and Donner 2008)."""
    count = len(estimates)
    value = sum(estimate.value for estimate in estimates) / count
    low = value - hypot(*(estimate.value - estimate.low for estimate in estimates)) / count
    high = value + hypot(*(estimate.high - estimate.value for estimate in estimates)) / count
    return Metric(metric, value, low, high, sum(estimate.n for estimate in estimates), estimates[0].grouping)


def ood_means(by_split: Mapping[str, Mapping[str, IntervalValue]]) -> dict[str, Metric]:
    """For each metric that was measured on all four splits, its mean over them. `by_split`: split -> metric ->
    estimate."""
    if not by_split.keys() >= set(OOD_SPLITS):
        return {}
    measured = [{name: e for name, e in by_split[split].items() if e.n} for split in OOD_SPLITS]
    shared = [name for name in measured[0] if all(name in of_split for of_split in measured)]
    return {name: ood_mean(name, [of_split[name] for of_split in measured]) for name in shared}


def splits_of(name: str) -> tuple[str, ...]:
    """The four out-of-domain splits for `ood`; any other name for itself alone."""
    return OOD_SPLITS if name == OOD else (name,)
