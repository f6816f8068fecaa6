"""Models of the right shape with random weights: enough to time them without a download."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedTokenizerFast

WORDS = ("Action: CLICK TYPE SELECT Value: Element: None of the above", "button link textbox option input div span")
# A model of each published size: the shape of its architecture, as its authors' config.json has it.
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "Flan-T5-base": {"d_model": 768, "d_kv": 64, "d_ff": 2048, "num_layers": 12, "num_heads": 12},
    "Flan-T5-large": {"d_model": 1024, "d_kv": 64, "d_ff": 2816, "num_layers": 24, "num_heads": 16},
    "Flan-T5-XL": {"d_model": 2048, "d_kv": 64, "d_ff": 5120, "num_layers": 24, "num_heads": 32},
    "SmolLM2-135M": {
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "vocab_size": 49_152,
    },
    "CodeLlama-7B": {
        "hidden_size": 4096,
        "intermediate_size": 11_008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 32_016,
    },
    "DeBERTa-v3-base": {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "relative_attention": True,
        "position_buckets": 256,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "vocab_size": 128_100,
    },
}
TINY = {"d_model": 64, "d_kv": 8, "d_ff": 128, "num_layers": 1, "num_heads": 8}
TINY |= {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1}
TINY |= {"num_attention_heads": 8, "num_key_value_heads": 8}


def published(name: str, texts: Iterable[str], folder: Path, small: bool) -> Path:
    """A folder with a model of a published size, `SHAPES`, and a tokenizer whose words are those of the texts: about
    as many characters a token as published ones. Left-to-right models are kept in bfloat16, as they are published."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

    fast = _tokenizer(texts, 8_000)
    config, kept = _config(name, small), torch.float32
    kind: Any = AutoModelForSeq2SeqLM
    if config.model_type == "llama":
        kind, kept = AutoModelForCausalLM, torch.bfloat16
    elif config.model_type == "deberta-v2":
        kind = AutoModelForSequenceClassification
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"), torch.random.fork_rng():
        torch.manual_seed(0)
        kind.from_config(config, dtype=kept).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def _config(name: str, small: bool) -> "PretrainedConfig":
    from transformers import DebertaV2Config, LlamaConfig, T5Config

    shape = {key: TINY.get(key, value) if small else value for key, value in SHAPES[name].items()}
    kind: Any = LlamaConfig
    more: dict[str, Any] = {"bos_token_id": 1, "max_position_embeddings": 16_384}
    if "d_model" in shape:
        kind = T5Config
        more = {"feed_forward_proj": "gated-gelu", "decoder_start_token_id": 0, "vocab_size": 32_128}
    elif "position_buckets" in shape:
        kind, more = DebertaV2Config, {"num_labels": 1}
    config: PretrainedConfig = kind(**shape, **more, pad_token_id=0, eos_token_id=1)
    return config


def random_seq2seq(folder: Path, small: bool) -> Path:
    """A folder with a sequence-to-sequence model of Flan-T5's architecture and a byte tokenizer."""
    from transformers import T5Config, T5ForConditionalGeneration

    fast, width = _tokenizer(), 64 if small else 512
    config = T5Config(
        vocab_size=len(fast),
        d_model=width,
        d_kv=width // 8,
        d_ff=2 * width,
        num_layers=1 if small else 4,
        num_heads=8,
        feed_forward_proj="gated-gelu",
        decoder_start_token_id=0,  # type: ignore[call-arg]  # any setting is taken, as keyword arguments
        pad_token_id=0,
        eos_token_id=1,
    )
    return _saved(folder, fast, T5ForConditionalGeneration, config)


def random_causal(folder: Path, small: bool) -> Path:
    """A folder with a left-to-right model of Llama's architecture and a byte tokenizer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    fast, width = _tokenizer(), 64 if small else 512
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=1 if small else 4,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=16_384,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=1,
    )
    return _saved(folder, fast, LlamaForCausalLM, config)


def _tokenizer(texts: Iterable[str] = WORDS, size: int = 30_000) -> "PreTrainedTokenizerFast":
    """A tokenizer that knows so many tokens at most: every byte, and what is frequent in the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<pad>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", model_max_length=100_000
    )


def _saved(folder: Path, tokenizer: "PreTrainedTokenizerFast", model: Any, config: Any) -> Path:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
