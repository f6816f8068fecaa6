"""The knock-out loop: groups of five, winners to the end of the queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.stages.simplify.knockout import rounds
from agents.words.parse import ParsedReply
from tests.agents.knocked_out import knock_out


def scripted(*choices: str | None):
    """An `ask` that gives these elements in turn, and the list of groups it was asked about."""
    asked: list[list[str]] = []
    replies = iter(choices)

    def ask(group: list[str]) -> ParsedReply:
        asked.append(group)
        return ParsedReply(next(replies), f"CLICK {len(asked)}")

    return ask, asked


def test_winners_join_the_end_of_the_queue():
    ask, asked = scripted("b", "g", "g")
    winner = knock_out(["a", "b", "c", "d", "e", "f", "g", "h"], ask)
    assert asked == [["a", "b", "c", "d", "e"], ["f", "g", "h", "b"]]
    assert winner == ParsedReply("g", "CLICK 2")


def test_the_action_is_the_one_of_the_last_reply_that_named_an_element():
    ask, asked = scripted("a", None)
    assert knock_out([*"abcdefghij"], ask) == ParsedReply("a", "CLICK 1")
    assert len(asked) == 2


def test_an_earlier_winner_that_the_last_group_rejects_is_lost():
    ask, asked = scripted("a", None)
    assert knock_out([*"abcdef"], ask) is None
    assert asked[-1] == ["f", "a"]


@pytest.mark.parametrize("candidates", [[], ["only"]])
def test_q7_nothing_is_asked_about_fewer_than_two_candidates(candidates):
    ask, asked = scripted()
    assert knock_out(candidates, ask) is None
    assert asked == []


def test_a_candidate_left_alone_without_ever_being_chosen_does_not_win():
    ask, _ = scripted(None)
    assert knock_out([*"abcdef"], ask) is None


def test_many_steps_can_advance_together_in_batches():
    waiting = {step: rounds([*candidates]) for step, candidates in {"one": "abc", "two": "abcdefg"}.items()}
    groups = {step: next(asking) for step, asking in waiting.items()}
    winners = {}
    while groups:
        for step, group in list(groups.items()):
            try:
                groups[step] = waiting[step].send(ParsedReply(group[-1], "CLICK "))
            except StopIteration as end:
                winners[step] = end.value.element
                del groups[step]
    assert winners == {"one": "c", "two": "e"}


def test_an_error_of_the_model_is_not_taken_for_the_end():
    ask, _ = scripted()  # runs out of replies at once
    with pytest.raises(StopIteration):
        knock_out(["a", "b"], ask)


def test_a_group_of_one_is_refused_because_it_would_never_end():
    with pytest.raises(ValueError, match="group_size"):
        knock_out(["a", "b"], lambda group: ParsedReply(group[0], ""), group_size=1)


@given(st.integers(0, 60), st.integers(2, 7))
def test_a_judge_that_always_prefers_the_gold_finds_it(count, group_size):
    candidates = [str(number) for number in range(count)]

    def ask(group: list[str]) -> ParsedReply:
        return ParsedReply(min(group, key=int), "CLICK ")

    winner = knock_out(candidates, ask, group_size)
    assert (winner and winner.element) == ("0" if count > 1 else None)


@given(st.lists(st.booleans(), min_size=100, max_size=100), st.integers(0, 60))
def test_every_candidate_is_asked_about_and_the_loop_ends(rejects, count):
    candidates = [str(number) for number in range(count)]
    asked: list[str] = []
    reject = iter(rejects)

    def ask(group: list[str]) -> ParsedReply:
        asked.extend(group)
        return ParsedReply(None if next(reject) else group[0], "")

    knock_out(candidates, ask)
    assert len(set(asked)) >= count - 1
