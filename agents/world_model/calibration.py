"""Confidences that can be trusted: a curve fitted on held-out cases, bins, and the expected calibration error. Core."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

BINS = 10


@dataclass(frozen=True)
class Calibration:
    """A rising curve from raw confidences (`raw`) to shares of cases that were right (`share`), given by points.
    Without points a confidence stays as it is."""

    raw: tuple[float, ...] = ()
    share: tuple[float, ...] = ()

    def of(self, raw: float) -> float:
        """The share of cases that were right at this confidence, interpolated between the points of the curve."""
        if not self.raw:
            return min(1.0, max(0.0, raw))
        place = bisect_right(self.raw, raw)
        if place == 0 or place == len(self.raw):
            return self.share[max(0, place - 1)]
        low, high = self.raw[place - 1], self.raw[place]
        part = (raw - low) / (high - low) if high > low else 1.0
        return self.share[place - 1] + part * (self.share[place] - self.share[place - 1])


def fitted(raw: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The curve by isotonic regression (pool adjacent violators). A wrong case is added at either end, so that a few
    right cases do not make anything certain."""
    if not raw:
        return Calibration()
    pairs = sorted(zip(raw, map(float, right), strict=True))
    pools: list[list[float]] = []  # sum of raw, of right, count
    for x, y in [(pairs[0][0], 0.0), *pairs, (pairs[-1][0], 0.0)]:
        pools.append([x, y, 1.0])
        while len(pools) > 1 and pools[-2][1] / pools[-2][2] >= pools[-1][1] / pools[-1][2]:
            last = pools.pop()
            pools[-1] = [mine + other for mine, other in zip(pools[-1], last, strict=True)]
    return Calibration(tuple(x / n for x, _, n in pools), tuple(y / n for _, y, n in pools))


@dataclass(frozen=True)
class ReliabilityBin:
    """Cases of about one confidence: its mean, the share that was right, how many."""

    confidence: float
    share: float
    count: int


def bins(confidences: Sequence[float], right: Sequence[bool], count: int = BINS) -> list[ReliabilityBin]:
    """The bins that hold a case, by rising confidence; all are of one width."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for confidence, was in zip(confidences, right, strict=True):
        groups.setdefault(min(count - 1, int(confidence * count)), []).append((confidence, was))
    return [
        ReliabilityBin(sum(c for c, _ in group) / len(group), sum(was for _, was in group) / len(group), len(group))
        for _, group in sorted(groups.items())
    ]


def calibration_error(confidences: Sequence[float], right: Sequence[bool], count: int = BINS) -> float:
    """ECE: how far the confidence of a bin lies from its share of right predictions, in the mean over cases. ValueError
    without any case."""
    if not confidences:
        raise ValueError("no case, no calibration error")
    found = bins(confidences, right, count)
    return sum(one.count * abs(one.confidence - one.share) for one in found) / len(confidences)


def error_by_chance(confidences: Sequence[float], count: int = BINS, draws: int = 200) -> float:
    """The calibration error that confidences of this size and number have in the mean where each is exactly right: a
    bin of few cases lies off by chance."""
    rng = Random(0)
    drawn = ([rng.random() < one for one in confidences] for _ in range(draws))
    return sum(calibration_error(confidences, right, count) for right in drawn) / draws
