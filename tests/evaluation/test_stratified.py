"""Shares from labels of random parts of strata: unbiased, and as unsure as what was not labelled makes them."""

import numpy as np
import pytest

from evaluation.metrics.stratified import Stratum, weighted_shares


def test_labels_stand_for_the_steps_of_their_stratum() -> None:
    looks = Stratum(100, held_risky=30, held_harmless=10, passed_risky=5, passed_harmless=5)  # each stands for 2
    rest = Stratum(1000, passed_risky=1, passed_harmless=99)  # each stands for 10
    recall, alarms = weighted_shares([looks, rest])
    assert recall is not None
    assert alarms is not None
    assert recall.value == pytest.approx(60 / (60 + 10 + 10))
    assert alarms.value == pytest.approx(20 / (20 + 10 + 990))
    assert (recall.n, alarms.n) == (36, 114)
    assert recall.low < recall.value < recall.high


def test_a_large_stratum_in_which_nothing_risky_was_found_leaves_recall_unsure() -> None:
    looks = Stratum(50, held_risky=50)
    few, _ = weighted_shares([looks, Stratum(2000, passed_harmless=20)])
    many, _ = weighted_shares([looks, Stratum(2000, passed_harmless=2000)])
    assert few is not None
    assert many is not None
    assert few.value == many.value == 1
    assert few.low < 0.5 < 0.9 < many.low


def test_what_is_left_out_is_no_part_of_what_is_counted() -> None:
    recall, _ = weighted_shares([Stratum(100, held_risky=4, passed_risky=4, left_out=2), Stratum(10, held_risky=10)])
    assert recall is not None
    assert recall.value == pytest.approx((40 + 10) / (40 + 40 + 10))


def test_nothing_risky_has_no_recall() -> None:
    recall, alarms = weighted_shares([Stratum(10, passed_harmless=10), Stratum(5)])
    assert recall is None
    assert alarms is not None
    assert alarms.value == 0
    assert weighted_shares([]) == (None, None)


@pytest.mark.slow
def test_estimates_of_drawn_parts_lie_around_the_truth_and_their_intervals_hold_it() -> None:
    """Of 2,000 things 100 look risky: these and 400 of the others are labelled, against the shares of all of them."""
    rng = np.random.default_rng(5)
    looks = np.arange(2000) < 100
    risky = np.where(looks, rng.random(2000) < 0.7, rng.random(2000) < 0.02)
    held = looks & (rng.random(2000) < 0.8)
    truth = (risky & held).sum() / risky.sum()
    found, covered = [], 0
    for _ in range(200):
        strata = []
        for stratum, labels in ((np.flatnonzero(looks), 100), (np.flatnonzero(~looks), 400)):
            drawn = rng.permutation(stratum)[:labels]
            cells = [(risky[drawn] == one) & (held[drawn] == two) for two in (True, False) for one in (True, False)]
            strata.append(Stratum(len(stratum), *(int(cell.sum()) for cell in cells)))
        recall, _ = weighted_shares(strata)
        assert recall is not None
        found.append(recall.value)
        covered += recall.low <= truth <= recall.high
    assert np.mean(found) == pytest.approx(truth, abs=0.03)
    assert covered >= 0.9 * len(found)
