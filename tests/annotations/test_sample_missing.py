"""Turns of the sample that leave something out, and the user who is asked for it."""

from collections import Counter

import pytest

from annotations.sample.goals import conversations
from annotations.sample.missing import (
    KINDS,
    NOTHING_MORE,
    AskedUser,
    HiddenPart,
    asked_for,
    hidden_parts,
    shortened,
    told_by,
)
from annotations.sample.script import ScriptError


@pytest.mark.slow
def test_at_least_sixty_turns_leave_something_out_at_a_known_place() -> None:
    found = hidden_parts()
    kinds = Counter(part.kind for parts in found.values() for part in parts)
    assert len(found) >= 60
    assert set(kinds) == set(KINDS)
    assert {name for name, _ in found} <= conversations().keys()
    for (name, turn), parts in found.items():
        whole = conversations()[name].turns[turn].instruction
        said = shortened(whole, parts)
        assert said, (name, turn)
        assert all(part.words.strip(" ,.:") not in said for part in parts), (name, turn)


def test_every_part_is_told_when_it_is_asked_for_and_not_otherwise() -> None:
    for parts in hidden_parts().values():
        for part in parts:
            user = AskedUser(parts)
            assert user.answer("Anything else?") == NOTHING_MORE
            assert user.told == []
            assert part.words.strip(" ,.:") in user.answer(f"Tell me, {part.asked[0]}?")
            assert part in user.told
            assert user.asked == 2


def test_what_an_answer_in_other_words_tells_is_known_and_what_it_does_not_tell_too() -> None:
    name = HiddenPart("value", "Ida Wren, ida.wren@postbox.example", "a friend", ("who", "name", "email"))
    train = HiddenPart("reference", "the 10:40", "the later one", ("which", "train", "later"))
    assert told_by("Her name is Ida Wren: ida.wren@postbox.example", [name, train]) == [name]
    assert told_by("I mean the train at 10:40.", [name, train]) == [train]
    for nothing in ("A friend of mine.", "The later one, please.", "Ida.", NOTHING_MORE, ""):
        assert told_by(nothing, [name, train]) == [], nothing
    assert asked_for("Which train do you mean?", [name, train]) == [train]
    assert asked_for("Shall I go on?", [name, train]) == []


def test_every_part_is_told_by_its_own_words_and_not_by_what_is_said_instead() -> None:
    for parts in hidden_parts().values():
        for part in parts:
            assert told_by(part.words, [part]) == [part], part
            assert told_by(part.said, [part]) == [], part


def test_words_that_are_not_there_are_refused() -> None:
    with pytest.raises(ScriptError, match="stands 0 times"):
        shortened("Take the train.", [HiddenPart("value", "to Westmere", "", ("where",))])
    assert shortened("Go to Rome, please.", [HiddenPart("value", "to Rome", "", ("where",))]) == "Go, please."
