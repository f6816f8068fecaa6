"""Rates behind judges that err: simulated reviewers with known error rates, and what can be computed by hand."""

import numpy as np
import pytest

from evaluation.metrics.judged import JudgedByPeople, corrected_rate, labels_wanted, sampled_rate, wilson

SIMULATIONS = 1_000


def covered(rate: float, sensitivity: float, specificity: float, n: int, people: int, seed: int) -> tuple[float, float]:
    """The share of simulations whose interval holds the true rate, and the mean of the estimates."""
    draw = np.random.default_rng(seed)
    hits, values = 0, []
    for _ in range(SIMULATIONS):
        right = draw.binomial(people, rate)
        known = JudgedByPeople(
            right, draw.binomial(right, sensitivity), people - right, draw.binomial(people - right, specificity)
        )
        truly = draw.binomial(n, rate)
        said = draw.binomial(truly, sensitivity) + draw.binomial(n - truly, 1 - specificity)
        found = corrected_rate(said, n, known)
        assert found is not None
        hits += found.low <= rate <= found.high
        values.append(found.value)
    return hits / SIMULATIONS, float(np.mean(values))


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "n", "people"),
    [(0.6, 0.9, 0.85, 800, 200), (0.35, 0.8, 0.9, 2_000, 300), (0.8, 0.95, 0.7, 500, 250), (0.5, 0.85, 0.85, 400, 120)],
)
def test_the_interval_of_the_corrected_rate_holds_the_truth(rate, sensitivity, specificity, n, people) -> None:
    share, mean = covered(rate, sensitivity, specificity, n, people, seed=7)
    assert 0.93 <= share <= 0.97
    assert mean == pytest.approx(rate, abs=0.01)


def test_the_raw_rate_of_the_same_judge_does_not() -> None:
    """The opposite: what is reported without correction lies beside the truth nearly always."""
    draw = np.random.default_rng(7)
    hits = 0
    for _ in range(SIMULATIONS):
        truly = draw.binomial(800, 0.35)
        said = draw.binomial(truly, 0.9) + draw.binomial(800 - truly, 0.25)
        raw = wilson(said, 800)
        hits += raw.low <= 0.35 <= raw.high
    assert hits / SIMULATIONS < 0.05


@pytest.mark.parametrize(("strict", "lenient"), [(0.05, 0.02), (0.15, 0.1), (0.0, 0.08), (0.25, 0.2)])
def test_a_random_part_tells_the_rate_of_all(strict: float, lenient: float) -> None:
    """With errors of both kinds as well, which go against each other: taken as independent, the intervals of the
    second and the last held the truth in 93 and 91 of 100."""
    draw = np.random.default_rng(11)
    n, looked_at, hits = 1_000, 250, 0
    for _ in range(SIMULATIONS):
        truth = draw.random(n) < 0.6
        flips = np.where(truth, draw.random(n) < strict / 0.6, draw.random(n) < lenient / 0.4)
        said = truth ^ flips
        part = draw.choice(n, looked_at, replace=False)
        found = sampled_rate(
            int(said.sum()), n, looked_at, int((truth & ~said)[part].sum()), int((~truth & said)[part].sum())
        )
        hits += found.low <= truth.mean() <= found.high
    assert 0.94 <= hits / SIMULATIONS <= 0.97


def test_looking_at_everything_leaves_no_doubt() -> None:
    found = sampled_rate(60, 100, 100, 5, 10)
    assert found == pytest.approx((0.55, 0.55, 0.55, 100))
    assert sampled_rate(60, 100, 0, 0, 0)[1:] == (0.0, 1.0, 0)


def test_nothing_is_said_where_nothing_can_be() -> None:
    assert corrected_rate(5, 10, JudgedByPeople(10, 5, 10, 5)) is None, "a coin"
    assert corrected_rate(5, 10, JudgedByPeople(0, 0, 10, 9)) is None, "nobody looked for errors of one kind"
    assert corrected_rate(0, 0, JudgedByPeople(10, 9, 10, 9)) is None
    assert wilson(0, 0) == (0.0, 0.0, 1.0, 0)


def test_a_share_of_nothing_is_told_without_a_value() -> None:
    nobody = JudgedByPeople(said_right=0, right=0, said_wrong=0, wrong=0)
    assert nobody.sensitivity.told() == {"value": None, "low": 0.0, "high": 1.0, "n": 0}
    assert JudgedByPeople(said_right=0, right=2, said_wrong=0, wrong=0).sensitivity.told()["value"] == 0.0


def test_agreement_with_people_by_hand() -> None:
    known = JudgedByPeople(50, 45, 50, 40)
    assert (known.sensitivity.value, known.specificity.value) == (0.9, 0.8)
    assert known.kappa == pytest.approx(0.7)
    assert JudgedByPeople(10, 10, 0, 0).kappa is None


def test_a_narrower_interval_needs_more_labels_of_the_kind_that_says_more() -> None:
    known = JudgedByPeople(60, 54, 40, 34)
    wide, narrow = labels_wanted(500, 800, known, 0.15), labels_wanted(500, 800, known, 0.1)
    assert wide is not None
    assert narrow is not None
    assert sum(wide) < sum(narrow)
    assert labels_wanted(500, 800, known, 0.01) is None, "800 judged things are too few for that"
    right, wrong = narrow
    found = corrected_rate(500, 800, JudgedByPeople(right, round(0.9 * right), wrong, round(0.85 * wrong)))
    assert found is not None
    assert found.high - found.low == pytest.approx(0.1, abs=0.02)
