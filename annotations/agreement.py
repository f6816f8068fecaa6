"""How far people agree: on cuts, on words, on defects. Core: numbers in, numbers out.

Cuts: boundary similarity (`annotations.text.segmentation`). Words: chrF (Popović 2015) by sacreBLEU. Defects: kappa
(Cohen 1960 for two people; Fleiss 1971 for more).
Intervals are percentile bootstraps over sessions, because what is said about one session is not independent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

MIN_SESSIONS = 10  # below that an interval would only look exact
RESAMPLES, LEVEL, SEED = 1000, 0.95, 0
Counts = np.ndarray  # what one session adds to a statistic: any vector whose sums over sessions mean something


@dataclass(frozen=True)
class Agreement:
    """A value over all sessions with its interval. `value` is None without data, or where chance leaves nothing to
    agree about; `low` and `high` are None when the sessions are too few."""

    value: float | None
    low: float | None
    high: float | None
    sessions: int
    n: int  # comparisons, in all sessions

    @property
    def too_few(self) -> str:
        """A sentence that says why there is no interval; "" when there is one."""
        return self.too_few_of("session")

    def too_few_of(self, unit: str) -> str:
        """`too_few`, of what was drawn instead of sessions."""
        if self.sessions >= MIN_SESSIONS:
            return ""
        many = f"1 {unit} is" if self.sessions == 1 else f"{self.sessions} {unit}s are"
        return f"{many} too few for an interval: {MIN_SESSIONS} are needed."


def chrf(text_a: str, text_b: str) -> float:
    """Character n-gram F-score in [0, 1] (order 6, no words); the mean of both directions, because chrF's recall
    weighs double and neither text is the reference. 1.0 for two empty texts."""
    if not text_a.strip() and not text_b.strip():
        return 1.0
    metric = _chrf()
    scores = metric.sentence_score(text_a, [text_b]).score, metric.sentence_score(text_b, [text_a]).score
    return float(sum(scores) / 200)


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF  # loads in a tenth of a second, for pages that need it

    return CHRF()


def cohen_counts(ratings: Iterable[tuple[bool, bool]]) -> Counts:
    """[both true, only first, only second, both false]."""
    counts = np.zeros(4)
    for first, second in ratings:
        counts[2 * (not first) + (not second)] += 1
    return counts


def cohen(counts: Counts) -> np.ndarray:
    """Cohen's kappa of each row of counts, shape (..., 4); nan where chance alone agrees always."""
    both, first, second, neither = np.moveaxis(np.asarray(counts, float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = both + first + second + neither
        p_first, p_second = (both + first) / total, (both + second) / total
        expected = p_first * p_second + (1 - p_first) * (1 - p_second)
        return _beyond_chance((both + neither) / total, expected)


def fleiss_counts(ratings: Iterable[Sequence[bool]]) -> Counts:
    """[sum of the subjects' agreement, subjects, true ratings, ratings]; subjects rated once are left out."""
    counts = np.zeros(4)
    for row in ratings:
        n, yes = len(row), sum(row)
        if n > 1:
            counts += ((yes * (yes - 1) + (n - yes) * (n - yes - 1)) / (n * (n - 1)), 1, yes, n)
    return counts


def fleiss(counts: Counts) -> np.ndarray:
    """Fleiss' kappa of each row of counts, shape (..., 4), also where subjects have different numbers of ratings; nan
    where chance alone agrees always."""
    agreement, subjects, yes, ratings = np.moveaxis(np.asarray(counts, float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = yes / ratings
        return _beyond_chance(agreement / subjects, share**2 + (1 - share) ** 2)


def _beyond_chance(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    room, beyond = 1 - expected, observed - expected
    beyond = np.where(np.abs(beyond) > 1e-12, beyond, 0)  # as much as chance, which floats miss by a bit
    return np.where(room > 1e-12, beyond / np.where(room > 1e-12, room, 1), np.nan)


def mean_counts(values: Sequence[float]) -> Counts:
    """[sum, how many]."""
    return np.array([sum(values), len(values)], float)


def mean(counts: Counts) -> np.ndarray:
    """The mean of each row of counts, shape (..., 2); nan of nothing."""
    total, n = np.moveaxis(np.asarray(counts, float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: np.ndarray = total / n
        return means


def estimate(by_session: Mapping[Any, Counts], statistic: Callable[[Counts], np.ndarray], n: int) -> Agreement:
    """A statistic over the summed counts of all sessions, with the bounds of its 95% interval.

    Sessions are drawn with replacement 1,000 times, the same way each time. Draws in which the statistic does not
    exist are left out; without an interval when they are most.
    """
    if not by_session:
        return Agreement(None, None, None, 0, 0)
    counts = np.vstack(list(by_session.values()))
    value = float(statistic(counts.sum(axis=0)))
    known = None if np.isnan(value) else value
    if known is None or len(counts) < MIN_SESSIONS:
        return Agreement(known, None, None, len(counts), n)
    drawn = np.random.default_rng(SEED).integers(0, len(counts), size=(RESAMPLES, len(counts)))
    weights = np.stack([np.bincount(row, minlength=len(counts)) for row in drawn])
    values = statistic(weights @ counts)
    values = values[~np.isnan(values)]
    if len(values) < RESAMPLES / 2:
        return Agreement(known, None, None, len(counts), n)
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Agreement(known, float(low), float(high), len(counts), n)
