"""Agreement: measures against published values, and what the campaign's page makes of people's work."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations import agreement
from annotations.templatetags.shown import points
from annotations.text.segmentation import boundary_similarity

CUTS = st.integers(2, 14).flatmap(
    lambda steps: st.tuples(*[st.sets(st.integers(1, steps - 1))] * 2, st.just(steps), st.integers(2, 4))
)


@pytest.mark.parametrize(
    ("a", "b", "steps", "near", "value"),
    [
        ({4, 8}, {4, 8}, 12, 2, 1.0),
        (set(), set(), 12, 2, 1.0),
        ({4}, set(), 12, 2, 0.0),
        ({4}, {5}, 12, 2, 0.5),  # one near miss of one step: half right
        ({4}, {6}, 12, 2, 0.0),  # too far for n_t = 2
        ({4}, {6}, 12, 3, 1 / 3),
        ({4, 8}, {5, 8}, 12, 2, 0.75),
        ({4, 8}, {4}, 12, 2, 0.5),
        ({3, 4}, {4, 5}, 12, 2, 1 / 3),  # the shared cut is a match, so it does not pair with its neighbours
        ({2, 6, 9}, {3, 6, 11}, 12, 2, 1 - 2.5 / 4),
    ],
)
def test_boundary_similarity_by_hand(a, b, steps, near, value):
    assert boundary_similarity(a, b, steps, near) == pytest.approx(value)


@given(CUTS)
def test_boundary_similarity_is_symmetric_and_a_share(drawn):
    a, b, steps, near = drawn
    value = boundary_similarity(a, b, steps, near)
    assert 0 <= value <= 1
    assert value == boundary_similarity(b, a, steps, near)
    assert (value == 1) == (a == b)
    assert value >= boundary_similarity(a, b, steps, 1)  # near misses only forgive


@pytest.mark.parametrize("cut", [0, 5, -1])
def test_a_cut_outside_the_steps_is_a_mistake(cut):
    with pytest.raises(ValueError, match="no cut lies"):
        boundary_similarity({cut}, set(), 5)


def test_cohens_kappa_of_the_textbook_example():
    # 20 both yes, 5 only the first, 10 only the second, 15 both no: observed 0.7, expected 0.5.
    ratings = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    counts = agreement.cohen_counts(ratings)
    assert list(counts) == [20, 5, 10, 15]
    assert float(agreement.cohen(counts)) == pytest.approx(0.4)


def test_fleiss_kappa_by_hand():
    # Three raters, three subjects: P = (1 + 1/3 + 1) / 3, yes = 5 of 9.
    ratings = [(True, True, True), (True, True, False), (False, False, False)]
    expected = (5 / 9) ** 2 + (4 / 9) ** 2
    value = float(agreement.fleiss(agreement.fleiss_counts([*ratings, (True,)])))
    assert value == pytest.approx((7 / 9 - expected) / (1 - expected))


def test_kappa_does_not_exist_where_everybody_always_says_the_same():
    assert agreement.estimate({1: agreement.cohen_counts([(False, False)] * 9)}, agreement.cohen, 9).value is None
    assert agreement.estimate({1: agreement.fleiss_counts([(True, True, True)])}, agreement.fleiss, 1).value is None


def test_chrf_is_symmetric_and_a_share():
    texts = ["Find red shoes.", "Show me red shoes, please.", "", "Zzz"]
    assert agreement.chrf("Find red shoes.", "Find red shoes.") == pytest.approx(1)
    assert agreement.chrf("", " ") == 1
    for a, b in itertools.combinations(texts, 2):
        assert agreement.chrf(a, b) == pytest.approx(agreement.chrf(b, a))
        assert 0 <= agreement.chrf(a, b) < 1
    assert agreement.chrf(texts[0], texts[1]) > agreement.chrf(texts[0], texts[3])


def test_few_sessions_have_a_value_but_no_interval():
    found = agreement.estimate({n: agreement.mean_counts([0.5, 1.0]) for n in range(3)}, agreement.mean, 6)
    assert (found.value, found.low, found.high, found.sessions, found.n) == (0.75, None, None, 3, 6)
    assert found.too_few == "3 sessions are too few for an interval: 10 are needed."


def test_the_interval_draws_sessions_not_comparisons():
    # Twelve sessions, all comparisons of a session alike: drawing comparisons would give a much smaller interval.
    by_session = {n: agreement.mean_counts([float(n % 2)] * 100) for n in range(12)}
    found = agreement.estimate(by_session, agreement.mean, 1200)
    assert found.value == 0.5
    assert found.too_few == ""
    assert found.low == pytest.approx(0.25, abs=0.1)
    assert found.high == pytest.approx(0.75, abs=0.1)
    assert found == agreement.estimate(by_session, agreement.mean, 1200)


def test_nothing_gives_no_estimate():
    assert agreement.estimate({}, agreement.mean, 0) == agreement.Agreement(None, None, None, 0, 0)


def test_agreement_by_chance_alone_is_zero_and_never_minus_zero():
    for both, first, second, neither in ((1, 2, 4, 8), (1, 2, 5, 10), (1, 3, 4, 12)):
        assert str(float(agreement.cohen([both, first, second, neither]))) == "0.0"
    assert points(-0.0004) == "0.0"
