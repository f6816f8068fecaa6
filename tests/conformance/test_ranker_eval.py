"""The published cross-encoder evaluator: results, ranks and queries of whole splits."""

import numpy as np
import pytest

from agents.stages.rank.query import ranker_query
from evaluation.metrics.ranking import evaluate_ranking, gold_rank, ranks
from tests.conformance.cases import params


@pytest.mark.parametrize("case", params("ranker_eval"))
def test_results_and_ranks_agree_with_the_published_evaluator(case):
    scores = {text: float(np.float32(score)) for text, score in case["doc_scores"].items()}
    ranked, gold_ranks = {}, []
    for step in case["instances"]:
        candidates = [*step["pos_candidates"], *step["neg_candidates"]]
        of_step = ranks({node_id: scores[text] for node_id, text in candidates})
        ranked[f"{step['annotation_id']}_{step['action_uid']}"] = of_step
        gold_ranks.append(gold_rank(of_step, [node_id for node_id, _ in step["pos_candidates"]]))
    assert ranked == case["ranks"]
    assert evaluate_ranking(gold_ranks) == pytest.approx(case["results"], abs=1e-9)
    queries = [ranker_query(step["confirmed_task"], step["previous_actions"]) for step in case["instances"]]
    assert queries == case["queries"]
