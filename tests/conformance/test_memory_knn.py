"""Multifaceted matching: which past steps are chosen, in which order, given the published embeddings."""

import numpy as np
import pytest

from agents.stages.recall.select import item_text, nearest_items, query_text
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


@pytest.mark.parametrize("case", params("memory_knn"))
def test_selected_items_agree_with_the_published_code(case):
    query = query_text(case["query_task"], case["previous_actions"])
    assert query == case["query_text"]
    texts = [item_text(item["confirmed_task"], (), item["action_reprs"]) for item in case["items"]]

    def encode(wanted):
        return np.array([case["embeddings"][text] for text in wanted])

    with crash_of(case) as crashes:
        selected = nearest_items(query, texts, encode, case["top_k"], case["sort_by"])
    assert crashes or selected == case["selected_indices"]
