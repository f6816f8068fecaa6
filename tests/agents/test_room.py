"""How many tokens of prompts are answered at once, by the memory that is free."""

from pathlib import Path

import pytest
import torch

from agents.encoders.devices import chosen_device
from agents.generators.local import LocalGenerator
from agents.generators.room import CPU_TOKENS, GPU_TOKENS, bytes_per_token, fitting
from tests.tiny_models import tiny_causal, tiny_t5

GIGABYTE = 10**9


def test_a_processor_has_the_room_of_a_processor(tmp_path: Path) -> None:
    generator = LocalGenerator(tiny_causal(tmp_path, ["page link"], width=16, layers=1, vocabulary=400), "cpu")
    assert generator.batch_tokens == CPU_TOKENS


@pytest.mark.parametrize(("free", "each", "tokens"), [(80, 23_040, GPU_TOKENS), (40, 524_288, 19_073), (1, 10**6, 0)])
def test_a_device_has_room_by_its_memory_and_by_what_a_token_takes(free: int, each: int, tokens: int) -> None:
    """Of a 135M model; of one of seven billion; what hardly fits is tried as on a processor."""
    assert fitting(free * GIGABYTE, each) == max(tokens, CPU_TOKENS)


def test_what_a_token_takes_is_what_its_keys_and_values_take(tmp_path: Path) -> None:
    from transformers import AutoConfig, DynamicCache

    folder = tiny_causal(tmp_path / "causal", ["page link"], width=16, layers=3, vocabulary=400)
    model = LocalGenerator(folder, "cpu").model
    cache = DynamicCache(config=model.config)
    model(torch.tensor([[3, 4, 5, 6]]), past_key_values=cache)
    kept = sum(part.numel() * part.itemsize for layer in cache.layers for part in (layer.keys, layer.values))
    assert bytes_per_token(model.config, model.dtype.itemsize) == kept // 4
    t5 = AutoConfig.from_pretrained(tiny_t5(tmp_path / "t5", ["page link"], width=16, layers=2, vocabulary=400))
    assert bytes_per_token(t5, 4) == 2 * t5.num_decoder_layers * t5.num_heads * t5.d_kv * 4


def test_a_device_is_the_one_that_is_named_or_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chosen_device() == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    before = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        assert (chosen_device("cpu"), torch.backends.cuda.cudnn_sdp_enabled()) == ("cpu", before)
        assert (chosen_device(), torch.backends.cuda.cudnn_sdp_enabled()) == ("cuda", False)
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)
