"""Out of memory at inference: with less at a time where that helps, else a sentence that says what to change."""

import numpy as np
import pytest

from agents.encoders.memory_limits import explained, inference_advice, is_out_of_memory, within_memory
from agents.recipes.literature import RECIPES, to_dict

TOO_MUCH = 10**15


def torch_allocation() -> None:
    import torch

    torch.empty(TOO_MUCH)


@pytest.mark.parametrize("allocate", [torch_allocation, lambda: np.ones(TOO_MUCH), lambda: bytearray(TOO_MUCH)])
def test_running_out_of_memory_is_told_from_other_errors(allocate) -> None:
    with pytest.raises((MemoryError, RuntimeError)) as caught:
        allocate()
    assert is_out_of_memory(caught.value)
    assert not is_out_of_memory(RuntimeError("shapes do not match"))
    assert not is_out_of_memory(ValueError("out of memory"))


@pytest.mark.slow
def test_a_batch_that_does_not_fit_is_done_in_halves() -> None:
    sizes = []

    def compute(items: list[int]) -> list[int]:
        sizes.append(len(items))
        if len(items) > 3:
            torch_allocation()
        return [item * 2 for item in items]

    assert within_memory(compute, list(range(10))) == [item * 2 for item in range(10)]
    assert sizes == [10, 5, 2, 3, 5, 2, 3]


def test_other_errors_and_single_items_are_not_tried_again() -> None:
    tried = []

    def compute(items: list[int]) -> list[int]:
        tried.append(items)
        raise KeyError if len(items) > 1 else MemoryError

    with pytest.raises(KeyError):
        within_memory(compute, [1, 2])
    with pytest.raises(MemoryError):
        within_memory(compute, [1])
    assert tried == [[1, 2], [1]]


def test_the_advice_names_settings_that_there_are_with_their_values() -> None:
    told = explained(MemoryError("no room"), inference_advice(to_dict(RECIPES["mindact"])))
    assert "batch_size (now 32)" in told
    assert "rank.top_k (now 50)" in told
    assert "compose.max_tokens (now 2048)" in told
    assert "CUDA_VISIBLE_DEVICES=" in told
    assert "no room" in told
