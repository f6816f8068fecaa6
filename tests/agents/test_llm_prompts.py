"""Texts of prompts: strict placeholders, literal values, messages by marks."""

import pytest

from agents.prompts.catalogue import TEXTS, check_text, misfit
from agents.prompts.marks import BadText, Said, marked, written
from agents.prompts.render import Prompt

PROMPT = Prompt("greeting", 'Say "{{word}}" to {{who}}; {word} and {{ word }} stay.')
TOOL = {"name": "click", "description": "Clicks.", "parameters": {"type": "object"}}


def test_values_are_inserted_literally_and_never_read_again() -> None:
    filled = PROMPT.fill(word=r"{{who}} \1 $who %s {0} \g<0>", who="a\nb")
    assert filled == 'Say "{{who}} \\1 $who %s {0} \\g<0>" to a\nb; {word} and {{ word }} stay.'


def test_a_placeholder_may_occur_twice_and_take_a_number() -> None:
    assert Prompt("twice", "{{n}}, {{n}}").fill(n=3) == "3, 3"


def test_missing_and_unknown_values_are_named() -> None:
    with pytest.raises(ValueError, match="the prompt 'greeting' has no value for who, word and does not use name"):
        PROMPT.fill(name="x")
    with pytest.raises(ValueError, match="has no value for who, word"):
        PROMPT.messages()


def test_a_text_without_marks_is_one_message_of_the_role_that_its_use_knows() -> None:
    assert marked("One.\n\nTwo.").messages == (Said("", "One.\n\nTwo."),)
    assert Prompt("x", "Go {{n}}").messages(n=1) == [("user", "Go 1")]
    assert Prompt("x", "Go").messages("system") == [("system", "Go")]


def test_marks_part_messages_whose_words_stay_to_the_character() -> None:
    text = "@@ system\nBe kind.\n@@ user\n@@@ user said {{words}}\n\n@@ assistant\n"
    assert Prompt("x", text).messages(words="@@ user\n{{words}}") == [
        ("system", "Be kind."),
        ("user", "@@ user said @@ user\n{{words}}\n"),
        ("assistant", ""),
    ]


@pytest.mark.parametrize("words", ["", "\n", "a\n", "@@ user", "@@@", "a\n@@ image b\n", "é {{x}} \r"])
def test_what_is_written_is_read_again(words) -> None:
    messages = (Said("user", words, ("page", "page_before")), Said("tool", words))
    assert marked(written(messages, [TOOL])).messages == messages
    assert marked(written(messages, [TOOL])).tools == (TOOL,)
    assert marked(written([Said("", words)])).messages == (Said("", words),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("words\n@@ user\nmore", "there are words before the first mark"),
        ("@@ user\na\n@@ nobody", "line 3 is no mark: write @@ and system, user, assistant, tool, image NAME or tools"),
        ("@@user", "line 1 is no mark"),
        ("@@ image page", "line 1 shows an image outside of a message"),
        ("@@ tools\n[", "the tools are no JSON"),
        ('@@ tools\n[{"name": "x"}]', "no list of objects with name, description and parameters"),
        ('@@ tools\n[{"name": 1, "description": "", "parameters": {}}]', "no list of objects"),
    ],
)
def test_a_text_that_is_none_is_refused_with_the_place(text, said) -> None:
    with pytest.raises(BadText, match=said):
        marked(text)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("nothing", "x", "there is no text 'nothing'; there are page_system, "),
        ("objective", "{{task}} {{page}}", "{{trajectory}} must stand in it"),
        ("page_header", "{{task}}", "nothing is filled in for {{task}}"),
        ("page_header", "x" * 100_001, "at most 100,000 characters"),
        ("page_header", "\0", "no NUL"),
        ("page_header", "@@ x", "line 1 is no mark"),
    ],
)
def test_a_text_must_hold_what_is_filled_in_and_nothing_else(name, text, said) -> None:
    with pytest.raises(BadText, match=said.replace("{", "\\{")):
        check_text(name, text)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("page_header", "@@ user\nx", "has messages of its own, where it takes plain words"),
        ("page_shots_generation", "x", "is no row of messages of the user, each with an answer of the assistant"),
        ("page_shots_generation", "@@ user\nx", "is no row of messages"),
        ("rewrite", "@@ user\n@@ image page\n@@ image page_before\nx", "shows images (page, page_before), which"),
        ("rewrite", written([Said("user", "x")], [TOOL]), "names tools (click), which it cannot offer"),
        ("rewrite", "@@ user\nx\n@@ tool\ny", "has a message of the role tool, where it takes system, user, assistant"),
        ("rewrite", "@@ system\nx\n@@ user\ny", ""),
        ("rewrite", "x", ""),
    ],
)
def test_a_form_that_its_use_cannot_show_is_said(name, text, said) -> None:
    found = misfit(Prompt(name, text))
    assert found.startswith(said) if said else found == ""


def test_every_kind_of_text_says_what_it_is_for() -> None:
    assert all(kind.what for kind in TEXTS.values())
