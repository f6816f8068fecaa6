"""Weights of the right shape that know nothing: enough to time a planner without a download."""

from pathlib import Path


def random_seq2seq(folder: Path, small: bool) -> Path:
    """A folder with a sequence-to-sequence model of Flan-T5's architecture and a byte tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(special_tokens=["<pad>", "</s>"], initial_alphabet=alphabet, show_progress=False)
    words = ["Action: CLICK TYPE SELECT Value: Element: None of the above", "button link textbox option input div span"]
    tokenizer.train_from_iterator(words, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", model_max_length=100_000
    )
    width = 64 if small else 512
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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        T5ForConditionalGeneration(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
