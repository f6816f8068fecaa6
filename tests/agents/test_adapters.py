"""Adapters learn beside weights that stay as they are, and are merged into them where they are used."""

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from agents.encoders.adapters import FILE, base_of, load
from agents.generators.local import LocalGenerator
from agents.llm.protocol import Message
from agents.training.fit.loop import train
from agents.training.fit.weights import load_tokenizer
from agents.training.kinds import language
from agents.training.kinds.language import CausalTask, Seq2SeqTask
from agents.training.presets import PRESETS
from agents.training.settings import CausalSettings, make_settings
from agents.words.generator import ChatPrompt
from tests.agents.training_world import TextSamples, text_pairs
from tests.quick import first_is_quick
from tests.tiny_models import tiny_causal, tiny_t5

PAIRS = text_pairs(8)
TEXTS = [text for pair in PAIRS for text in (pair.prompt, pair.answer)]
LORA = {"adapter": "lora", "lora_rank": 8, "lora_alpha": 16, "learning_rate": 0.02, "max_length": 128}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def task_of(kind: str, base: Path, **changes):
    settings, tokenizer = (
        make_settings(kind, LORA | {"epochs": 6, "batch_size": 4} | changes),
        load_tokenizer(str(base)),
    )
    samples = TextSamples(PAIRS, tokenizer, 128)
    made = CausalTask if isinstance(settings, CausalSettings) else Seq2SeqTask
    return made(str(base), tokenizer, settings, samples), settings


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def bases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    sizes = {"layers": 1, "vocabulary": 400, "width": 32}
    return {
        "causal": tiny_causal(folder / "causal", TEXTS, **sizes),
        "seq2seq": tiny_t5(folder / "seq2seq", TEXTS, **sizes),
    }


@pytest.mark.slow
@first_is_quick("kind", ["causal", "seq2seq"])
def test_an_adapter_learns_and_its_base_stays_as_it_is(kind, bases, tmp_path) -> None:
    base, told = bases[kind], []
    before = sums(base)
    task, settings = task_of(kind, base)
    frozen = {n: p.detach().clone() for n, p in task.model.named_parameters() if not p.requires_grad}
    assert train(task, settings, tmp_path / "work", tell=told.append) == "done"
    losses = [point["loss"] for point in told[-1].curve]
    assert losses[-1] < losses[0] - 0.2
    now = dict(task.model.named_parameters())
    assert frozen
    assert all(torch.equal(value, now[name]) for name, value in frozen.items())
    task.save(tmp_path / "own")
    assert sums(base) == before
    assert base_of(tmp_path / "own") == str(base)
    assert not list((tmp_path / "own").glob("model*.safetensors")), "the adapter alone is kept"
    prompts = [ChatPrompt((Message("user", pair.prompt),), flat=pair.prompt) for pair in PAIRS]
    merged, plain = LocalGenerator(tmp_path / "own"), LocalGenerator(base)
    assert not any("lora" in name for name, _ in merged.model.named_parameters())
    assert [a.text for a in merged.generate(prompts)] != [a.text for a in plain.generate(prompts)]
    ids = torch.tensor([merged.tokenizer(PAIRS[0].prompt)["input_ids"]])
    task.model.eval()
    more = {"decoder_input_ids": ids} if kind == "seq2seq" else {}
    with torch.inference_mode():
        beside, whole = (m(input_ids=ids, **more).logits for m in (task.model, merged.model))
    torch.testing.assert_close(beside, whole, atol=1e-4, rtol=1e-3)


@pytest.mark.slow
def test_a_checkpoint_holds_the_adapter_alone_and_a_training_goes_on_from_it(bases, tmp_path) -> None:
    task, settings = task_of("causal", bases["causal"], epochs=2)
    train(task, settings, tmp_path / "whole")
    first, _ = task_of("causal", bases["causal"], epochs=2)
    assert train(first, settings, tmp_path / "parts", until=lambda: True) == "paused"
    kept = torch.load(tmp_path / "parts" / "checkpoint.pt", weights_only=True)["model"]
    assert kept
    assert all("lora" in name for name in kept)
    again, _ = task_of("causal", bases["causal"], epochs=2)
    assert train(again, settings, tmp_path / "parts") == "done"
    for (name, wanted), (_, found) in zip(task.model.named_parameters(), again.model.named_parameters(), strict=True):
        torch.testing.assert_close(found, wanted, msg=name)


@pytest.mark.slow
def test_an_adapter_on_an_adapter_is_merged_into_it(bases, tmp_path) -> None:
    task, settings = task_of("causal", bases["causal"], epochs=1)
    train(task, settings, tmp_path / "work1")
    task.save(tmp_path / "one")
    second, settings = task_of("causal", tmp_path / "one", epochs=1)
    train(second, settings, tmp_path / "work2")
    second.save(tmp_path / "two")
    assert load(AutoModelForCausalLM, tmp_path / "two").config.model_type == "llama"
    config = json.loads((tmp_path / "one" / FILE).read_text())
    (tmp_path / "one" / FILE).write_text(json.dumps(config | {"base_model_name_or_path": str(tmp_path / "two")}))
    with pytest.raises(ValueError, match="goes with itself"):
        load(AutoModelForCausalLM, tmp_path / "two")
    (tmp_path / "one" / FILE).write_text(json.dumps(config | {"base_model_name_or_path": "gone"}))
    with pytest.raises(ValueError, match="goes with other weights: there is no model 'gone'"):
        load(AutoModelForCausalLM, tmp_path / "two")


def test_what_cannot_be_adapted_is_refused(bases) -> None:
    with pytest.raises(ValueError, match=r"lora_targets names wq; the model has .*q_proj"):
        task_of("causal", bases["causal"], lora_targets="q_proj, wq")
    with pytest.raises(ValueError, match="lm_head, which shares its weights with the embeddings"):
        task_of("seq2seq", bases["seq2seq"], lora_targets="lm_head")
    with pytest.raises(ValueError, match="lora_rank would change nothing: it needs adapter=lora"):
        make_settings("causal", {"lora_rank": 4})
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match=r"adapter=qlora .* needs a CUDA device and the package bitsandbytes"):
            task_of("causal", bases["causal"], adapter="qlora")


def test_weights_in_four_bits_are_asked_for_as_qlora_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the device, which is not here: what would be loaded on one, and how."""
    asked: dict[str, Any] = {}

    class Loading(Exception):
        """Stands where a device would be needed."""

    def load_model(kind: str, base: str, **options: Any) -> None:
        asked.update(options)
        raise Loading

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.46.0")
    monkeypatch.setattr(language, "load_model", load_model)
    with pytest.raises(Loading):
        language._trained_model("causal", "base", make_settings("causal", {"adapter": "qlora"}))
    kept = asked["quantization_config"]
    assert (kept.load_in_4bit, kept.bnb_4bit_quant_type, kept.bnb_4bit_use_double_quant) == (True, "nf4", True)
    assert (kept.bnb_4bit_compute_dtype, asked["device_map"]) == (torch.bfloat16, {"": 0})


def test_presets_hold_settings_that_there_are(bases, tmp_path) -> None:
    for preset in PRESETS.values():
        own = {name: value for name, value in preset.settings.items() if "." not in name}
        made = make_settings(preset.kind, own)
        assert made.adapter == "lora"
    synapse = make_settings("causal", {n: v for n, v in PRESETS["synapse-codellama"].settings.items() if "." not in n})
    assert (synapse.batch_size * synapse.accumulate, synapse.learning_rate, synapse.epochs) == (128, 3e-4, 4)
    untied = tmp_path / "untied"
    shutil.copytree(bases["causal"], untied)
    config = json.loads((untied / "config.json").read_text())
    (untied / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    small = {"batch_size": 4, "accumulate": 1, "lora_rank": 2, "mixed_precision": "no"}
    task, _ = task_of("causal", untied, **(vars(synapse) | small | {"max_length": 128}))
    trained = {
        name.split(".lora_")[0].rpartition(".")[2] for name, p in task.model.named_parameters() if p.requires_grad
    }
    assert trained == set(synapse.lora_targets.split(","))
