"""Corrects the success rate that a judge who errs has found, by what people say of a part of the steps.

Two ways. With the judge's errors measured on steps that people judged (`corrected_rate`): the estimate of Rogan and
Gladen (1978) with the interval of Lang and Reiczigel (2014), as "How to Correctly Report LLM-as-a-Judge Evaluations"
(arXiv 2511.21140) uses them; it carries the uncertainty of both samples. With people's verdicts on a random part of the
very steps that the judge judged (`sampled_rate`): the judge's rate plus how often, in that part, it was too strict,
less how often too lenient.
"""

from math import ceil, sqrt
from typing import NamedTuple

Z = 1.959963984540054  # of a 95 % interval


class EstimatedRate(NamedTuple):
    """A share with its 95 % interval, and the number of things that it is a share of."""

    value: float
    low: float
    high: float
    n: int

    def told(self) -> dict[str, float | None]:
        """As data; a share of nothing has no value."""
        return self._asdict() | ({} if self.n else {"value": None})


class JudgedByPeople(NamedTuple):
    """A judge's verdicts compared with people's: of `right` things that people found right, the judge called
    `said_right` right; of `wrong` ones, it called `said_wrong` wrong."""

    right: int
    said_right: int
    wrong: int
    said_wrong: int

    @property
    def sensitivity(self) -> EstimatedRate:
        """The share of right things that the judge calls right."""
        return wilson(self.said_right, self.right)

    @property
    def specificity(self) -> EstimatedRate:
        """The share of wrong things that the judge calls wrong."""
        return wilson(self.said_wrong, self.wrong)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of judge and people; None where both always say the same one thing."""
        n = self.right + self.wrong
        if not n:
            return None
        said = self.said_right + self.wrong - self.said_wrong
        observed = (self.said_right + self.said_wrong) / n
        chance = (self.right * said + self.wrong * (n - said)) / n**2
        beyond = observed - chance
        return (beyond if abs(beyond) > 1e-12 else 0.0) / (1 - chance) if chance < 1 else None


def wilson(part: float, n: int) -> EstimatedRate:
    """A share with Wilson's interval; with n = 0 the interval is 0 to 1."""
    if not n:
        return EstimatedRate(0.0, 0.0, 1.0, 0)
    share = part / n
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    # At the ends the bound is the share itself, which rounding would miss.
    low, high = (middle - half if part else 0.0), (middle + half if part < n else 1.0)
    return EstimatedRate(share, low, high, n)


def corrected_rate(said_right: int, n: int, calibration: JudgedByPeople) -> EstimatedRate | None:
    """The true rate behind a judge who called `said_right` of `n` things right. None where the judge is no better than
    chance, or errors of one kind were never looked for: then nothing can be said."""
    known = calibration
    if not n or not known.right or not known.wrong:
        return None
    sensitivity, specificity = known.said_right / known.right, known.said_wrong / known.wrong
    if sensitivity + specificity <= 1:
        return None
    value = (said_right / n + specificity - 1) / (sensitivity + specificity - 1)
    return EstimatedRate(_within(value), *_lang_reiczigel(said_right, n, known), n)


def _lang_reiczigel(said_right: int, n: int, known: JudgedByPeople) -> tuple[float, float]:
    """The bounds of Lang and Reiczigel. Shares are first moved a little towards one half, as Agresti and Coull do."""
    p, size = (said_right + Z**2 / 2) / (n + Z**2), n + Z**2
    sensitivity, right = (known.said_right + 1) / (known.right + 2), known.right + 2
    specificity, wrong = (known.said_wrong + 1) / (known.wrong + 2), known.wrong + 2
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return 0.0, 1.0
    rate = (p + specificity - 1) / informed
    of_right = sensitivity * (1 - sensitivity) / right
    of_wrong = specificity * (1 - specificity) / wrong
    shift = 2 * Z**2 * (rate * of_right - (1 - rate) * of_wrong)
    half = Z * sqrt(p * (1 - p) / size + rate**2 * of_right + (1 - rate) ** 2 * of_wrong) / informed
    return _within(rate + shift - half), _within(rate + shift + half)


def labels_wanted(said_right: int, n: int, calibration: JudgedByPeople, width: float) -> tuple[int, int] | None:
    """How many right and wrong things people should have judged for an interval of this width, in the division that
    needs fewest; None where it cannot be reached with these n (judge more things), or nothing is known yet."""
    rate = corrected_rate(said_right, n, calibration)
    if rate is None:
        return None
    sensitivity = (calibration.said_right + 1) / (calibration.right + 2)
    specificity = (calibration.said_wrong + 1) / (calibration.wrong + 2)
    share = said_right / n
    room = (width * (sensitivity + specificity - 1) / (2 * Z)) ** 2 - share * (1 - share) / n
    if room <= 0:
        return None
    of_right = rate.value * sqrt(sensitivity * (1 - sensitivity))
    of_wrong = (1 - rate.value) * sqrt(specificity * (1 - specificity))
    both = of_right + of_wrong
    return ceil(of_right * both / room), ceil(of_wrong * both / room)


def sampled_rate(said_right: int, n: int, looked_at: int, too_strict: int, too_lenient: int) -> EstimatedRate:
    """The true rate of `n` things of which the judge called `said_right` right, by a random part of `looked_at` of
    them: in it, the judge called `too_strict` wrong that people found right, and `too_lenient` the other way. Bounds
    by MOVER from Wilson's of the two shares with their correlation (they go against each other, as no thing has both
    errors), less wide the more of all was looked at; 0 to 1 where nothing was."""
    if not looked_at or not n:
        return EstimatedRate(said_right / n if n else 0.0, 0.0, 1.0, 0)
    strict, lenient = wilson(too_strict, looked_at), wilson(too_lenient, looked_at)
    value = said_right / n + strict.value - lenient.value
    unseen = sqrt(max(0.0, 1 - looked_at / n))
    rest = (1 - strict.value) * (1 - lenient.value)
    against = sqrt(strict.value * lenient.value / rest) if rest else 1.0  # how much they do: minus their correlation
    low = unseen * _length(strict.value - strict.low, lenient.high - lenient.value, against)
    high = unseen * _length(strict.high - strict.value, lenient.value - lenient.low, against)
    return EstimatedRate(_within(value), _within(value - low), _within(value + high), looked_at)


def _length(one: float, other: float, against: float) -> float:
    return sqrt(one**2 + other**2 + 2 * against * one * other)


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
