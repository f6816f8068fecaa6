"""Tiny models of the real architectures, made in seconds, with tokenizers trained on the texts of a test.

Each function writes one folder that `transformers` loads as it loads published weights. They know nothing until they
are trained; the same arguments give the same weights. Training learns in seconds with learning rates around 3e-3.

    folder = tiny_t5(tmp_path / "t5", texts)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
"""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tiny_t5(
    folder: Path,
    texts: Iterable[str],
    *,
    seed: int = 0,
    width: int = 64,
    layers: int = 2,
    vocabulary: int = 1000,
    dropout: float = 0.0,
) -> Path:
    """A sequence-to-sequence model (Flan-T5's architecture). Its tokenizer keeps every character, ends texts in
    `</s>` and decodes them exactly."""
    tokenizer = byte_tokenizer(texts, vocabulary, pad="<pad>", eos="</s>", template="$A </s>")
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=width,
        d_kv=width // 4,
        d_ff=2 * width,
        num_layers=layers,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=True,
        dropout_rate=dropout,
        decoder_start_token_id=0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return _save(folder, T5ForConditionalGeneration, config, tokenizer, seed)


def tiny_cross_encoder(
    folder: Path, texts: Iterable[str], *, deberta: bool = False, seed: int = 0, width: int = 64, layers: int = 2
) -> Path:
    """A model with one logit per pair of texts: BERT's architecture, or DeBERTa-v3's with `deberta`."""
    tokenizer = word_tokenizer(texts)
    sizes = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 2 * width,
        "max_position_embeddings": 512,
        "num_labels": 1,
        "pad_token_id": tokenizer.pad_token_id,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    if not deberta:
        return _save(folder, BertForSequenceClassification, BertConfig(**sizes), tokenizer, seed)
    config = DebertaV2Config(
        **sizes,
        relative_attention=True,
        position_buckets=32,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        pooler_dropout=0.0,
    )
    return _save(folder, DebertaV2ForSequenceClassification, config, tokenizer, seed)


def tiny_encoder(folder: Path, texts: Iterable[str], *, seed: int = 0, width: int = 64, layers: int = 2) -> Path:
    """A BERT encoder, to be used with mean pooling; its vectors have `width` numbers."""
    tokenizer = word_tokenizer(texts)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * width,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return _save(folder, BertModel, config, tokenizer, seed)


def tiny_causal(
    folder: Path, texts: Iterable[str], *, seed: int = 0, width: int = 64, layers: int = 2, vocabulary: int = 1000
) -> Path:
    """A left-to-right language model (Llama's architecture) with a plain chat template."""
    tokenizer = byte_tokenizer(texts, vocabulary, pad="<pad>", eos="</s>", template="$A")
    tokenizer.chat_template = CHAT_TEMPLATE
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return _save(folder, LlamaForCausalLM, config, tokenizer, seed)


def byte_tokenizer(
    texts: Iterable[str], vocabulary: int, *, pad: str, eos: str, template: str
) -> PreTrainedTokenizerFast:
    """Byte-pair encoding over bytes: nothing is unknown, and decoding gives back the text, line breaks included."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[pad, eos],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, pair=f"{template} {template.replace('$A', '$B')}", special_tokens=[(eos, 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        eos_token=eos,
        clean_up_tokenization_spaces=False,
        model_max_length=100_000,
    )


def word_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """One token per word, sign or number, pairs as BERT joins them: `[CLS] a [SEP] b [SEP]`."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=512,
    )


def _save(folder: Path, kind: type[PreTrainedModel], config, tokenizer: PreTrainedTokenizerFast, seed: int) -> Path:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
