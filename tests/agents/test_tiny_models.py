"""The models that other tests train and run are loaded as published weights are."""

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification
from transformers import AutoTokenizer as Tokenizers

from tests.tiny_models import tiny_causal, tiny_cross_encoder, tiny_encoder, tiny_t5

TEXTS = ["Task: book a flight\nAction: CLICK\n", "(button id=0 search & go)", "Task: find a café"]


def test_t5_reads_and_writes_texts_exactly(tmp_path) -> None:
    folder = tiny_t5(tmp_path / "t5", TEXTS)
    tokenizer = Tokenizers.from_pretrained(folder)
    ids = tokenizer(TEXTS[0] + "é 漢").input_ids
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True) == TEXTS[0] + "é 漢"
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, trust_remote_code=False)
    batch = tokenizer(TEXTS[:2], return_tensors="pt", padding=True)
    assert model.generate(**batch, max_new_tokens=3).shape[0] == 2
    assert torch.isfinite(model(**batch, labels=batch["input_ids"]).loss)


def test_cross_encoders_give_one_logit_per_pair(tmp_path) -> None:
    for deberta in (False, True):
        folder = tiny_cross_encoder(tmp_path / str(deberta), TEXTS, deberta=deberta)
        tokenizer = Tokenizers.from_pretrained(folder)
        model = AutoModelForSequenceClassification.from_pretrained(folder)
        assert model.config.model_type == ("deberta-v2" if deberta else "bert")
        batch = tokenizer(["find a flight", "go"], ["button", "button search"], return_tensors="pt", padding=True)
        assert model(**batch).logits.shape == (2, 1)


def test_the_encoder_gives_vectors(tmp_path) -> None:
    folder = tiny_encoder(tmp_path / "encoder", TEXTS, width=32)
    batch = Tokenizers.from_pretrained(folder)(TEXTS, return_tensors="pt", padding=True)
    assert AutoModel.from_pretrained(folder)(**batch).last_hidden_state.shape[::2] == (3, 32)


def test_the_causal_model_answers_chats(tmp_path) -> None:
    folder = tiny_causal(tmp_path / "causal", TEXTS)
    tokenizer = Tokenizers.from_pretrained(folder)
    chat = [{"role": "user", "content": "book a flight"}]
    prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert prompt == "user: book a flight\nassistant: "
    batch = tokenizer(prompt, return_tensors="pt")
    output = AutoModelForCausalLM.from_pretrained(folder).generate(**batch, max_new_tokens=3, do_sample=False)
    assert output.shape[1] > batch["input_ids"].shape[1]


def test_the_same_arguments_give_the_same_weights(tmp_path) -> None:
    files = [tiny_t5(tmp_path / name, TEXTS) / "model.safetensors" for name in ("a", "b")]
    assert files[0].read_bytes() == files[1].read_bytes()
    other = tiny_t5(tmp_path / "c", TEXTS, seed=1) / "model.safetensors"
    assert other.read_bytes() != files[0].read_bytes()
