"""Prompt files: strict placeholders, literal values."""

import hashlib

import pytest

from agents.prompts import render
from agents.prompts.render import Prompt, load, names

PROMPT = Prompt("greeting", 'Say "{{word}}" to {{who}}; {word} and {{ word }} stay.', "0" * 64)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(render, "FOLDER", tmp_path)
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


def test_values_are_inserted_literally_and_never_read_again() -> None:
    filled = PROMPT.fill(word=r"{{who}} \1 $who %s {0} \g<0>", who="a\nb")
    assert filled == 'Say "{{who}} \\1 $who %s {0} \\g<0>" to a\nb; {word} and {{ word }} stay.'


def test_a_placeholder_may_occur_twice_and_take_a_number() -> None:
    assert Prompt("twice", "{{n}}, {{n}}", "").fill(n=3) == "3, 3"


def test_missing_and_unknown_values_are_named() -> None:
    with pytest.raises(ValueError, match="the prompt 'greeting' has no value for who, word and does not use name"):
        PROMPT.fill(name="x")


def test_a_prompt_is_its_file_and_its_hash(folder) -> None:
    source = "First line: {{x}}\n\nLast line.\n"
    (folder / "one.txt").write_text(source)
    prompt = load("one")
    assert prompt.text == "First line: {{x}}\n\nLast line."
    assert prompt.sha256 == hashlib.sha256(source.encode()).hexdigest()
    assert prompt.placeholders() == {"x"}
    assert names() == ["one"]


@pytest.mark.parametrize("name", ["two", "../one", "", "one.txt"])
def test_an_unknown_prompt_is_refused_with_the_choices(folder, name) -> None:
    (folder / "one.txt").write_text("text")
    with pytest.raises(ValueError, match="choose one of one"):
        load(name)


def test_every_prompt_of_the_project_loads_and_has_no_half_written_placeholder() -> None:
    for name in names():
        assert load(name).text.strip()
        assert load(name).text.count("{{") == len(render._PLACEHOLDER.findall(load(name).text)), name
