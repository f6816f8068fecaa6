"""Ranks, hits and reciprocal ranks."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.ranking import evaluate_ranking, gold_rank, ranks, recall_at, reciprocal_rank


def test_ties_keep_the_order_given_so_positives_listed_first_win():
    assert ranks({"positive": 0.5, "negative": 0.5, "best": 0.9}) == {"best": 0, "positive": 1, "negative": 2}


def test_gold_rank_is_the_best_positive_and_none_when_all_were_pruned():
    ranked = {"a": 0, "b": 1, "c": 2}
    assert gold_rank(ranked, ["c", "b"]) == 1
    assert gold_rank(ranked, ["pruned", "c"]) == 2
    assert gold_rank(ranked, ["pruned"]) is None
    assert gold_rank(ranked, []) is None


def test_recall_counts_a_rank_below_k_and_a_pruned_gold_as_a_miss():
    assert [recall_at(rank, 5) for rank in (0, 4, 5, None)] == [1, 1, 0, 0]


def test_reciprocal_rank_is_zero_from_the_cut_on():
    assert reciprocal_rank(0) == 1
    assert reciprocal_rank(49, cut=50) == 1 / 50
    assert reciprocal_rank(50, cut=50) == 0
    assert reciprocal_rank(50) == 1 / 51
    assert reciprocal_rank(None) == 0


def test_steps_without_gold_stay_in_the_denominator():
    assert evaluate_ranking([0, None]) == {
        "mrr": 0.5,
        "acc": 0.5,
        **{f"recall@{k}": 0.5 for k in (3, 5, 10, 20, 50, 100)},
    }


def test_no_steps_give_zeros():
    assert set(evaluate_ranking([]).values()) == {0}


@given(st.lists(st.none() | st.integers(0, 150), min_size=1, max_size=30))
def test_recall_never_falls_as_k_grows(gold_ranks):
    result = evaluate_ranking(gold_ranks)
    recalls = [result["acc"], *(result[f"recall@{k}"] for k in (3, 5, 10, 20, 50, 100))]
    assert recalls == sorted(recalls)
    assert result["acc"] <= result["mrr"] <= result["recall@50"] + 1e-12
