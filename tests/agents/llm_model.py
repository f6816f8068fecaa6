"""A tiny causal language model, made and taught on the spot: real weights, real tokenizer, a second to train."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'system' %}{{ raise_exception('no system messages') }}"
    "{% endif %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
LESSONS = {
    "Which button?": "Answer: B. CLICK",
    "What is to be typed into the field?": "Answer: A. TYPE London",
    "Nothing?": "Answer: A. None of the above",
}


def make_model(folder: Path, template: str | None = TEMPLATE, lessons: dict[str, str] = LESSONS) -> None:
    """A two-layer Llama with a byte-level tokenizer, taught to answer each question (a user's message) to the letter.

    Without a template it is taught "user: question", a line break, "assistant:". At most 128 tokens in all.
    """
    torch.manual_seed(0)
    special = ["<|end|>", "<|user|>", "<|assistant|>"]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        [*lessons, *lessons.values()],
        trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|end|>", chat_template=template)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=128,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    examples = []
    for question, answer in lessons.items():
        asked = f"<|user|>{question}<|end|><|assistant|>" if template else f"user: {question}\nassistant:"
        examples.append((tokenizer(asked)["input_ids"], tokenizer(answer)["input_ids"] + [0]))
    width = max(len(prompt) + len(answer) for prompt, answer in examples)
    ids = torch.zeros((len(examples), width), dtype=torch.long)
    labels = torch.full((len(examples), width), -100)
    for row, (prompt, answer) in enumerate(examples):
        ids[row, : len(prompt) + len(answer)] = torch.tensor(prompt + answer)
        labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
    for _ in range(60):
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)


def answer(folder: Path, question: str, max_tokens: int = 30) -> tuple[str, int]:
    """What the model in `folder` answers without sampling, and how many tokens it read for that."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), LlamaForCausalLM.from_pretrained(folder).eval()
    messages = [{"role": "user", "content": question}]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    ids = torch.tensor([tokenizer(prompt, add_special_tokens=False)["input_ids"]])
    with torch.inference_mode():
        row = model.generate(input_ids=ids, max_new_tokens=max_tokens, do_sample=False, pad_token_id=0)[0]
    return tokenizer.decode(row[ids.shape[1] :], skip_special_tokens=True), ids.shape[1]
