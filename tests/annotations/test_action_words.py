"""Actions in words, as every page says them."""

import pytest

from annotations.text.actions import in_words


@pytest.mark.parametrize(
    ("representation", "words"),
    [
        ("[link]  Returns -> CLICK", "CLICK Returns"),
        ("[input]  Search -> TYPE: red shoes", "TYPE “red shoes” in Search"),
        ("button DVD $1.75 → CLICK", "CLICK DVD $1.75"),
        ("[select]   -> SELECT: a -> b", "SELECT “a -> b” in select"),
        ("say: hello", "say: hello"),
        ("", ""),
    ],
)
def test_an_action_is_said_in_words(representation: str, words: str) -> None:
    assert in_words(representation) == words
