"""Actions in words, as every page says them."""

import pytest

from annotations.text.actions import in_words


@pytest.mark.parametrize(
    ("representation", "words"),
    [
        ("[link]  Returns -> CLICK", "CLICK Returns"),
        ("[input]  Search -> TYPE: red shoes", "TYPE “red shoes” in Search"),
        ("button DVD $1.75 → CLICK", "CLICK DVD $1.75"),
        ("[select]   -> SELECT: a -> b", "SELECT “a -> b” in a list without a name"),
        ("[i]  -> CLICK", "CLICK an icon without a name"),
        ("[page]  -> STOP", "stopped"),
        ("[page]  -> SCROLL: 300", "SCROLL “300”"),
        ("[li]  -> HOVER", "HOVER an element without a name"),
        ("click [a] Book", "CLICK Book"),
        ("click [a] Fares: all", "CLICK Fares: all"),
        ("textInput [input] From: Westmere", "TYPE “Westmere” in From"),
        ("change [select] 1 adult 2 adults: 2", "CHANGE “2” in 1 adult 2 adults"),
        ("load: https://www.rail.example/", "LOAD “https://www.rail.example/”"),
        ("click the [a] there", "click the [a] there"),
        ("say: hello", "SAY “hello”"),
        ("", ""),
    ],
)
def test_an_action_is_said_in_words(representation: str, words: str) -> None:
    assert in_words(representation) == words
