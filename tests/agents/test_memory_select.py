"""Selection of past steps: when nothing is encoded, the baselines' rules, and what the corrected texts hold."""

import numpy as np
import pytest

from agents.encoders.embedding import HashEncoder
from agents.stages.recall.select import (
    CORRECTED,
    FAITHFUL,
    item_text,
    nearest_items,
    query_text,
    select_fixed,
    select_multifaceted,
    select_task_knn,
)


def refuse(texts):
    raise AssertionError(f"encoded {texts}")


def angles(degrees):
    """An encoder of texts that lie at given angles from the query "q"."""

    def encode(texts):
        radians = np.radians([degrees.get(text, 0) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1) * 7  # not unit vectors

    return encode


def test_few_items_all_come_back_by_time_without_encoding():
    assert select_multifaceted("q", ["c", "b", "a"], refuse, top_k=3) == [0, 1, 2]
    assert select_multifaceted("q", [], refuse) == []


def test_equal_texts_count_once_and_come_together():
    texts = ["far", "near", "far", "near", "middle"]
    encode = angles({"near": 10, "middle": 20, "far": 90})
    assert select_multifaceted("q", texts, encode, top_k=1) == [1, 3]
    assert select_multifaceted("q", texts, encode, top_k=2) == [1, 3, 4]
    assert select_multifaceted("q", texts, encode, top_k=3, sort_by="time") == [0, 1, 2, 3, 4]


def test_of_equally_similar_texts_the_later_comes_first():
    assert nearest_items("q", ["a", "b", "c"], angles({"a": 30, "b": 30, "c": 30}), 2, "relevance") == [2, 1]


def test_vectors_of_length_zero_are_similar_to_nothing():
    zeros = HashEncoder(8).encode
    assert nearest_items("", ["word", ""], zeros, 1, "relevance") == [1]


def test_top_k_below_one_is_refused():
    with pytest.raises(ValueError, match="top_k must be at least 1"):
        nearest_items("q", ["a"], refuse, 0, "relevance")


def test_fixed_takes_every_step_of_the_first_turns():
    assert select_fixed([0, 0, 1, 3, 4], turns=3) == [0, 1, 2]  # turn 2 had no step


def test_task_knn_compares_turns_by_instruction_and_takes_all_their_steps():
    turns = [0, 0, 1, 2, 2, 3]
    instructions = ["far", "far", "near", "middle", "middle", "farther"]
    encode = angles({"near": 5, "middle": 20, "far": 60, "farther": 80})
    assert select_task_knn("q", turns, instructions, encode, turns=2) == [2, 3, 4]
    assert select_task_knn("q", turns, instructions, encode, turns=3) == [2, 3, 4, 0, 1]
    assert select_task_knn("q", turns, instructions, encode, turns=3, sort_by="time") == [0, 1, 2, 3, 4]


def test_task_knn_of_few_turns_takes_them_by_time_without_encoding():
    assert select_task_knn("q", [0, 0, 1, 4], ["a", "a", "b", "c"], refuse, turns=3) == [0, 1, 2, 3]


def test_q11_items_have_their_own_action_only_unless_corrected():
    assert item_text("buy", ["one", "two"], "three", FAITHFUL) == "Task: buy\nActions: three"
    assert item_text("buy", ["one", "two"], "three", CORRECTED) == "Task: buy\nActions: one; two; three"


def test_a_state_can_be_part_of_both_texts():
    assert query_text("buy", ["one"], "(html)") == "Task: buy\nActions: one\nState: (html)"
    assert item_text("buy", (), "one", state="(html)") == "Task: buy\nActions: one\nState: (html)"
