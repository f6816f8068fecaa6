"""Prompts together cost less than one by one, counted in what the weights read, and are answered alike."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from agents.generators import local, reading
from agents.generators.local import LocalGenerator
from agents.llm.protocol import Message, Sampling
from agents.words.generator import ChatPrompt
from tests.tiny_models import tiny_causal, tiny_t5

WORDS = "page link button textbox option input div span form search name date city hotel flight".split()
SHARED = " ".join(WORDS * 8)  # exemplars and workflows of a task
PROMPTS = [
    ChatPrompt((Message("user", f"{SHARED} {' '.join(WORDS[number:])} {' '.join(WORDS[:number] * number)}"),))
    for number in range(8)
]


def loaded(make: Callable[..., Path], folder: Path) -> LocalGenerator:
    generator = LocalGenerator(make(folder, [SHARED], width=16, layers=1, vocabulary=400), "cpu")
    generator.configure(max_new_tokens=6, max_tokens=4000)
    return generator


@pytest.fixture(scope="module", params=[tiny_causal, tiny_t5], ids=["causal", "seq2seq"])
def generator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LocalGenerator:
    return loaded(request.param, tmp_path_factory.mktemp("weights"))


def read(generator: LocalGenerator, work: Callable[[], object]) -> Counter[str]:
    """What the weights read meanwhile: tokens with padding (`read`), and passes of one token for each row (`turns`)."""
    counted: Counter[str] = Counter()

    def count(module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        rows, width = given[0].shape
        counted.update({"turns": 1} if width == 1 else {"read": rows * width})

    hook = generator.model.get_input_embeddings().register_forward_pre_hook(count)
    try:
        work()
    finally:
        hook.remove()
    return counted


def lengths(generator: LocalGenerator) -> list[int]:
    return [len(local.prompt_ids(prompt, generator.tokenizer, 4000)) for prompt in PROMPTS]


@pytest.mark.slow
def test_a_batch_is_answered_as_each_of_its_prompts_alone(generator: LocalGenerator) -> None:
    alone = [generator.generate([prompt])[0] for prompt in PROMPTS]
    assert generator.generate(PROMPTS) == alone
    assert generator.generate(PROMPTS[::-1]) == alone[::-1]
    drawn = Sampling(n=3, temperature=1.0, seed=4)
    assert generator.generate(PROMPTS, drawn) == [generator.generate([prompt], drawn)[0] for prompt in PROMPTS]


def test_several_batches_answer_as_one(generator: LocalGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generator.generate(PROMPTS)
    monkeypatch.setattr(generator, "batch_tokens", 3 * max(lengths(generator)))
    assert generator.generate(PROMPTS) == whole


@pytest.mark.slow
def test_a_batch_takes_turns_together(generator: LocalGenerator) -> None:
    alone = read(generator, lambda: [generator.generate([prompt]) for prompt in PROMPTS])
    together = read(generator, lambda: generator.generate(PROMPTS))
    assert together["turns"] * 4 <= alone["turns"]
    assert together["read"] <= alone["read"] * 1.05, "what is padded is less than a twentieth"


def test_on_a_processor_long_rows_are_not_filled_up() -> None:
    """A mask as large as their attention costs more than passes of their own."""
    long, short = reading.LONG_ROW, 10
    assert list(reading._read_together([long, long + 1, long], "cpu")) == [[1], [0, 2]]
    assert list(reading._read_together([short, short + 1, short], "cpu")) == [[1, 0, 2]]
    assert list(reading._read_together([long, long + 1, long], "cuda")) == [[1, 0, 2]]


@pytest.mark.slow
def test_what_prompts_begin_with_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = loaded(tiny_causal, tmp_path / "causal")
    shared = len(generator.tokenizer(f"user: {SHARED}", add_special_tokens=False)["input_ids"])
    whole = sum(lengths(generator))
    assert shared * len(PROMPTS) > whole / 2
    together = read(generator, lambda: generator.generate(PROMPTS))
    assert together["read"] <= whole - (len(PROMPTS) - 1) * (shared - 1)
    monkeypatch.setattr(generator, "batch_tokens", 2 * max(lengths(generator)))
    assert read(generator, lambda: generator.generate(PROMPTS))["read"] == together["read"], "also by other batches"


def test_equal_prompts_are_read_once(generator: LocalGenerator) -> None:
    one = read(generator, lambda: generator.generate(PROMPTS[:1]))
    assert read(generator, lambda: generator.generate(PROMPTS[:1] * 5))["read"] == one["read"]
    samples = read(generator, lambda: generator.generate(PROMPTS[:1], Sampling(n=5, temperature=1.0, seed=1)))
    assert samples["read"] == one["read"]


@pytest.mark.slow
def test_a_model_that_looks_back_a_little_only_is_asked_as_a_whole(tmp_path: Path) -> None:
    """What a sliding window remembers cannot be cut where the next prompt parts from it."""
    from transformers import AutoTokenizer, MistralConfig, MistralForCausalLM

    source = tiny_causal(tmp_path / "causal", [SHARED], width=16, layers=1, vocabulary=400)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    tokenizer = AutoTokenizer.from_pretrained(source)
    MistralForCausalLM(
        MistralConfig(vocab_size=len(tokenizer), num_key_value_heads=4, sliding_window=8, pad_token_id=0, **sizes)
    ).save_pretrained(tmp_path / "mistral")
    tokenizer.save_pretrained(tmp_path / "mistral")
    generator = LocalGenerator(tmp_path / "mistral", "cpu")
    generator.configure(max_new_tokens=6, max_tokens=4000)
    assert generator.generate(PROMPTS) == [generator.generate([prompt])[0] for prompt in PROMPTS]
