"""Distances of T5 worked out once are those of transformers, to the last bit, and cost a fraction."""

import time
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from agents.generators.local import LocalGenerator
from agents.generators.positions import weigh_by_distance
from agents.generators.reading import encoded
from tests.tiny_models import tiny_causal, tiny_t5

TEXTS = ["a page with a button and a list of houses"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5(tmp_path_factory.mktemp("t5"), TEXTS, width=16, layers=2, vocabulary=400)


@pytest.fixture(scope="module")
def plain(folder: Path) -> AutoModelForSeq2SeqLM:
    return AutoModelForSeq2SeqLM.from_pretrained(folder).eval()


def weighing(model):
    return model.get_encoder().block[0].layer[0].SelfAttention


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (7, 1), (40, 40), (300, 300), (300, 40), (40, 300)])
def test_the_weights_of_all_pairs_are_those_of_transformers(size, folder, plain) -> None:
    ours = LocalGenerator(folder, "cpu").model
    assert torch.equal(weighing(ours).compute_bias(*size), weighing(plain).compute_bias(*size))
    later = weighing(ours).compute_bias(*size, past_seen_tokens=3)
    assert torch.equal(later, weighing(plain).compute_bias(*size, past_seen_tokens=3))
    assert not torch.equal(later, weighing(ours).compute_bias(*size)) or size[0] == 1 == size[1]


@pytest.mark.slow
def test_prompts_are_read_alike_and_answered_alike(folder, plain) -> None:
    ours = LocalGenerator(folder, "cpu").model
    rows = [torch.randint(3, 280, (length,)).tolist() for length in (5, 130, 131, 600)]
    with torch.inference_mode():
        ours_read, plain_read = encoded(ours, rows), encoded(plain, rows)
        hidden, expected = (read["encoder_outputs"].last_hidden_state for read in (ours_read, plain_read))
        torch.testing.assert_close(hidden, expected, rtol=1e-5, atol=1e-6)
        options = {"max_new_tokens": 8, "do_sample": False}
        assert ours.generate(**ours_read, **options).tolist() == plain.generate(**plain_read, **options).tolist()


@pytest.mark.slow
@pytest.mark.timed
def test_a_long_prompt_costs_a_fraction(folder, plain) -> None:
    ours = LocalGenerator(folder, "cpu").model

    def seconds(model) -> float:
        begun = time.process_time()
        with torch.inference_mode():
            weighing(model).compute_bias(1000, 1000)
        return time.process_time() - begun

    assert 2 * min(seconds(ours) for _ in range(5)) < min(seconds(plain) for _ in range(5))


def test_a_model_of_another_kind_stays_as_it_is(tmp_path: Path) -> None:
    model = LocalGenerator(tiny_causal(tmp_path / "causal", TEXTS, width=16, layers=1), "cpu").model
    before = [set(vars(part)) for part in model.modules()]
    weigh_by_distance(model)
    assert [set(vars(part)) for part in model.modules()] == before
